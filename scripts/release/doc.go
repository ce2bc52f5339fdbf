// Command release builds the published files of a commit into dist/: the program for this machine's system, the
// licenses of all its parts, a list of its parts in CycloneDX, and checksums. The same commit gives the same bytes
// everywhere, with the same Go and C compiler: -check builds it again, elsewhere and from scratch, and compares.
//
// The program needs only glibc. It is not static, because the driver's library is loaded while it runs.
package main
