// Package arithmetic reads what a task's roofline says that a call must move and compute: numbers and names with
// + - * / ** and parentheses, with Python's precedence (** binds tighter than a sign on its left, and to the right).
// go/parser cannot read it (** has no place in Go), and expr-lang counts in ints that overflow. Text is bounded in length
// and depth; a value may still be infinite or no number, which the caller has to look at.
package arithmetic
