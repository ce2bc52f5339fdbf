// Package syntax cuts source text into tokens for colors: words of the language, comments, strings, numbers and names that are
// defined.
//
// Read scan.go, then languages.go. The caller is the Highlighter of views.
//
// Promise: each byte is looked at a bounded number of times, whatever the text is. Regular expressions that try again from the
// start after a failure take hours for 60 kB that were written for it, and texts are written by strangers.
//
// Weaknesses: it knows no grammar. A C++ function that returns a pointer is not marked as a definition, nor is what stands in
// braces of a Python f-string marked as code.
package syntax
