package job

import "strings"

// ShortenText cuts a text to most bytes, ending with "…".
func ShortenText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
