package job

import "strings"

// Shorten leaves the first bytes of a text, and shows that others followed.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
