// Command house measures the source: how large each package is, how long its functions are, how much of it is
// explained and tested, and whether imports between the rooms of docs/architecture.md run back up.
//
//	go run ./scripts/house [-json] [FOLDER]
//
// Lines are physical ones of Go files without tests and generated files; templates are counted apart. Run it on a
// worktree of an older commit to compare.
package main
