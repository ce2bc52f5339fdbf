package job

import "strings"

// Shorten cuts a text to most bytes, ending with "…".
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
