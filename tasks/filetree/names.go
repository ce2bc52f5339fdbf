package filetree

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var driveLetterPattern = regexp.MustCompile(`^[A-Za-z]:`)

const (
	maxPathBytes = 240 // bytes of a path
	maxPathDepth = 12
)

// RefusedName returns the reason why name is invalid as the slash-separated path of a file; "" if it is valid.
func RefusedName(name string) string {
	switch {
	case name == "":
		return "has an empty name"
	case !utf8.ValidString(name):
		return "has a name that is not UTF-8"
	case strings.ContainsFunc(name, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) }):
		return "has a control character in its name"
	case strings.Contains(name, `\`):
		return "has a backslash in its name; folders are separated by /"
	case strings.HasPrefix(name, "/") || driveLetterPattern.MatchString(name):
		return "has an absolute path"
	case len(name) > maxPathBytes:
		return "has a name longer than 240 bytes"
	case strings.Count(name, "/") >= maxPathDepth:
		return "lies deeper than 12 folders"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return "points outside the archive (..)"
		case part == "" || part == ".":
			return "has an empty or . part in its path"
		case strings.HasPrefix(part, "-"):
			return "has a name that starts with -, which programs take for an option"
		}
	}
	return ""
}

// FoldCase maps two names to the same text if a case-insensitive disk would store them in one file.
func FoldCase(name string) string { return strings.ToLower(strings.ToUpper(name)) }
