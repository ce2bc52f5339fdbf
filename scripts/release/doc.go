// Command release builds the published files of a commit into dist/: the program for this machine's system, the
// licenses of all its parts, a list of its parts in CycloneDX, and checksums. The same commit and the same Go and C
// compilers give the same bytes on every machine: -check builds again, in another directory without caches, and
// compares.
//
// The program needs only glibc. It is not static, because the driver's library is loaded while it runs.
package main
