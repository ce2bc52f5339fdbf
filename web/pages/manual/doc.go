// Package manual is the pages of the documentation: docs/ of the repository, under /docs.
package manual
