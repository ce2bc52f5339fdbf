// Package pyyaml reads YAML as PyYAML does, because tasks written for KernelBot were tried with it: YAML 1.1's plain
// values, Python's order of merged keys, and values that are written with Python's str().
//
// Read parse.go (the tree), value.go (scalars), then write.go (a mapping, as people write it) and suggest.go (what a
// misspelt key was meant to be). Package tasks calls it for task.yml and problem sets.
//
// It promises to end: a file is one document, its tree is bounded in depth and in nodes with aliases followed, and
// numbers are bounded in digits. It refuses, with the line, what a person would not write: duplicate keys and foreign
// tags. What may go wrong: the parser below it is YAML 1.2's, so the tags that it resolves are ignored and
// plain values are read again here; a form that only one of both knows is text.
package pyyaml
