// Package requirement reads the Python packages that a task or an evaluation requires of a worker, such as
// "nvidia-cutlass-dsl>=4,<5", and compares them with installed versions.
//
// The grammar is a part of PEP 508: a name, and versions with ==, !=, >=, <=, >, <, and ~=, separated by commas.
// Versions follow PEP 440. As with pip for installed packages, pre-releases count: 2.9.0.dev20251101 meets >=2.8.
//
// Texts are untrusted. Their lengths are limited, and so is the time of each comparison.
package requirement
