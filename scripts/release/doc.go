// Command release builds what is published of a commit into dist/: the program for this machine's system, the licences of all that is
// in it, a list of its parts in CycloneDX, and checksums. The same commit gives the same bytes wherever it is built, with the
// same Go and C compiler: -check builds it again, elsewhere and from nothing, and compares.
//
// The program needs glibc and nothing else. It is not static, because the driver's library is loaded while it runs.
package main
