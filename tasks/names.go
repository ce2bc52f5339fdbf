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

// IsLibraryName reports whether name is the name of a library, so that the linker option -l followed by name only links
// that library: the name cannot contain a path, or another option.
func IsLibraryName(name string) bool { return libraryNamePattern.MatchString(name) }

// IsIdentifier reports whether name is a C identifier, so that the compiler option -D followed by name only defines
// that macro: the name cannot contain a value, or another option.
func IsIdentifier(name string) bool { return identifierPattern.MatchString(name) }

// nameWithoutSuffix returns the last element of a path without its suffix.
func nameWithoutSuffix(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}
