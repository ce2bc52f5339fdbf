// Package arithmetic reads the expressions of a task's roofline, which say what a call must move and compute: numbers and
// names with + - * / ** and parentheses, with Python's precedence (** binds tighter than a sign on its left, and to the
// right). go/parser cannot read it (** has no place in Go), and expr-lang counts in ints that overflow. Text is bounded in
// length and depth; a value may still be infinite or NaN, which the caller has to check.
package arithmetic
