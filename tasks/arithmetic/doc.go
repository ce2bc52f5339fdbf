// Package arithmetic parses the expressions of a task's roofline, which give the bytes and operations of a call:
// numbers and names with + - * / ** and parentheses, with Python's precedence (** binds tighter than a sign on its
// left, and to the right). go/parser cannot parse it (** is not Go), and expr-lang counts in ints that overflow. Text
// is limited in length and depth; a value may be infinite or NaN, which the caller must check.
package arithmetic
