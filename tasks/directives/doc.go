// Package directives reads a submission's own settings: the #!POPCORN lines of its first comment block, as in
// KernelBot's submissions. They apply if a request, or the CLI's flags, omit a setting.
//
// A line below the block, or an indented one, is an ordinary comment; there is no warning.
package directives
