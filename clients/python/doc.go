// Package python holds the Python client of the evaluation API. For Go it is only a test: the one that
// runs the client's own, with Debian's Python, so that `make test` runs them.
package python
