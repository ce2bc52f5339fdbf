// Package pyyaml reads YAML as PyYAML does, because tasks written for KernelBot were tried with it: YAML 1.1's plain
// values, Python's order of merged keys, and values that are written with Python's str().
//
// Read parse.go (the tree), value.go (scalars), then write.go (a mapping in people's style) and suggest.go (the intended key
// for a misspelt one). Package tasks calls it for task.yml and problem sets.
//
// It promises to end: a file is one document, its tree is bounded in depth and in nodes with aliases followed, and numbers
// are bounded in digits. It refuses duplicate keys and foreign tags, with the line. What may go wrong: the parser below it
// is YAML 1.2's, so the tags that it resolves are ignored and plain values are read again here; a form that only one of both
// has is text.
package pyyaml
