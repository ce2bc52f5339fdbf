// Package filetree reads the files of an upload, from a zip or a folder, within limits. The task format uses it, and so does
// the reader of zipped submissions.
//
// In reading order:
//
//	tree.go    Tree, its limits, and its two kinds: in memory and in a folder
//	zip.go     a zip into memory
//	names.go   forbidden names of files
//
// It promises: no path leaves the tree; links are not followed; an archive's stated sizes are ignored, and its names and
// modes are checked. A zip that breaks this is refused with a sentence that names the file.
//
// What may go wrong: two files may be one on a file system without case, so such zips are refused; the caller has to stop a
// folder's links before a path's last element (os.Root).
package filetree
