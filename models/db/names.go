package db

import (
	"regexp"
	"strings"
)

var (
	notInSlug  = regexp.MustCompile(`[^a-z0-9]+`)
	deviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)
)

const maxSlug = 60

// Slug makes a name fit for a URL: lower-case letters, digits and single dashes. It is empty when
// nothing is left.
func Slug(name string) string {
	slug := strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.Trim(slug[:min(len(slug), maxSlug)], "-")
}

// IsName reports whether a device or a worker may be called so: it is part of addresses and of subjects in the queue.
func IsName(name string) bool { return deviceName.MatchString(name) }
