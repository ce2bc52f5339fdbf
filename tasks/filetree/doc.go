// Package filetree reads the files of an upload, from a zip or a folder, within limits. The task format uses it, and so
// does the reader of zipped submissions.
//
// In reading order:
//
//	tree.go    FileTree, its limits, and its two kinds: in memory and in a folder
//	zip.go     a zip into memory
//	names.go   forbidden names of files
//
// No path leaves the tree; links are not followed; an archive's stated sizes are ignored, and its names and modes are
// checked. A zip that violates this is refused with a sentence that names the file.
//
// Two files may be the same on a case-insensitive file system, so such zips are refused. For a folder, the caller must
// prevent links before a path's last element (os.Root).
package filetree
