package db

import (
	"regexp"
	"strings"
)

var (
	notInSlugPattern  = regexp.MustCompile(`[^a-z0-9]+`)
	deviceNamePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)
)

const maxSlugLength = 60

// Slug converts a name for URLs: lower-case letters, digits, and single dashes. The result may be empty.
func Slug(name string) string {
	slug := strings.Trim(notInSlugPattern.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.Trim(slug[:min(len(slug), maxSlugLength)], "-")
}

// IsValidName reports whether a text is a valid name of a device or worker. Such names occur in paths and in the
// subjects of the queue.
func IsValidName(name string) bool { return deviceNamePattern.MatchString(name) }
