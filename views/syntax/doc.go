// Package syntax splits source text into tokens for colors: keywords, comments, strings, numbers, and defined names.
//
// Read scan.go, then languages.go. The Highlighter of views uses it.
//
// Each byte is read a bounded number of times, whatever the text is. Backtracking regular expressions take hours for 60
// kB of malicious text.
//
// Weaknesses: it has no grammar. A C++ function that returns a pointer is not marked as a definition, and code in
// braces of a Python f-string is not marked as code.
package syntax
