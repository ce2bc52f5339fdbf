package job

import "strings"

// ShortenText cuts a text to at most limit bytes and adds "…".
func ShortenText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
