// Package parse reads the small languages in tasks and submissions that are not YAML, and has the errors that people
// can fix.
//
//	problems.go       Problem: an error in an upload, with file, line, key, and a sentence. Any other error is
//	                  a failure of the machine. ProblemsFromError finds them; no reading collects more than 50
//	directives.go     the #!POPCORN lines of a submission's first comment block, which apply if a request or the
//	                  command line omits a setting. A line below the block, or an indented one, is an ordinary comment
//	compileflags.go   the flags that a task may set for g++ or nvcc: for code generation, warnings, and definitions.
//	                  They are allowed by list, because a future compiler may give a harmless-looking one dangerous effects
//	arithmetic.go     the expressions of rooflines and of events: numbers and names with + - * / ** and parentheses, with
//	                  Python's precedence. go/parser cannot parse ** and expr-lang counts in ints that overflow. A value
//	                  may be infinite or NaN, which the caller must check
//
// It is a leaf: it imports nothing of Warpboard.
package parse
