package job

import "strings"

// Shorten cuts a text after at most most bytes, with "…" in place of the rest.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
