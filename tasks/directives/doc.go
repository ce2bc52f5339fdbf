// Package directives reads what a submission says about itself: the #!POPCORN lines of its first comment block, which
// KernelBot's submissions have. The site asks for what a request leaves open, and the CLI for what its flags do.
//
// What may go wrong: a line below the block, or one that is indented, is a comment like any other; no one is warned of it.
package directives
