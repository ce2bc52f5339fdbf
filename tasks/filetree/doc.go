// Package filetree reads the files of an upload, from a zip or a folder, within limits. The task format calls it, and what
// reads a submission that was sent as a zip.
//
// In reading order:
//
//	tree.go    Tree, its limits, and the two that there are: in memory and in a folder
//	zip.go     a zip into memory
//	names.go   which names a file cannot have
//
// It promises: no path leaves the tree; links are not followed; nothing is believed that an archive says of sizes, and its names
// and modes are checked. A zip that breaks this is refused in words, with the file's name.
//
// What may go wrong: two files may be one on a file system without case, so such zips are refused; a folder's links before a
// path's last element are the caller's to stop (os.Root).
package filetree
