// Package pyyaml reads YAML as PyYAML does, because tasks for KernelBot were tested with it: YAML 1.1's plain values,
// Python's order of merged keys, and Python's str() of values.
//
// Read parse.go (the tree), value.go (scalars), then write.go (a mapping in a human style), unclosed.go (the line of an
// unclosed bracket or quote), and suggest.go (the intended key for a misspelled one). Package tasks calls it for
// task.yml and problem sets.
//
// Reading terminates: a file is one document, its tree is limited in depth and in nodes with aliases expanded, and
// numbers are limited in digits. Duplicate keys and foreign tags are refused, with the line. The underlying parser
// implements YAML 1.2, so its tags are ignored and plain values are interpreted again here; a form that only one of
// both versions has is text.
package pyyaml
