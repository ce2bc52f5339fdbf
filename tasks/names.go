package tasks

import (
	"path"
	"regexp"
	"strings"
)

var (
	identifierPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	libraryNamePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
	deviceNamePattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._+-]{0,31}$`)
)

// IsLibraryName reports whether name is valid after -l, with no other effect.
func IsLibraryName(name string) bool { return libraryNamePattern.MatchString(name) }

// IsIdentifier reports whether name is valid after -D, with no other effect.
func IsIdentifier(name string) bool { return identifierPattern.MatchString(name) }

// nameWithoutSuffix returns the last element of a path without its suffix.
func nameWithoutSuffix(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}
