package ncu

import "github.com/ianlancetaylor/demangle"

// maxDemangled limits the bytes of a symbol that is demangled.
const maxDemangled = 16 << 10

// Demangle returns the C++ name of a linker symbol, of at most 2^maxBits bytes; other texts, and symbols of more than
// 16 KiB, stay unchanged. Demangle symbols of submissions only by this function: package demangle calls itself for each
// letter, and a symbol of a megabyte overflows the stack, which ends the process.
func Demangle(symbol string, maxBits int, options ...demangle.Option) string {
	if len(symbol) > maxDemangled {
		return symbol
	}
	return demangle.Filter(symbol, append(options, demangle.MaxLength(maxBits))...)
}
