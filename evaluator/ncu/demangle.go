package ncu

import "github.com/ianlancetaylor/demangle"

// maxDemangled limits the symbols that are demangled, in bytes.
const maxDemangled = 16 << 10

// Demangle returns the C++ name of a linker symbol, cut to 2^maxBits bytes. It returns other texts, and symbols of more
// than 16 KiB, unchanged. Use it instead of package demangle for symbols of submissions: that package recurses for each
// letter, so a symbol of a megabyte overflows the stack, which ends the process.
func Demangle(symbol string, maxBits int, options ...demangle.Option) string {
	if len(symbol) > maxDemangled {
		return symbol
	}
	return demangle.Filter(symbol, append(options, demangle.MaxLength(maxBits))...)
}
