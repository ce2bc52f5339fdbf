package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Capital begins text with a capital letter.
func Capital(text string) string { return withFirst(text, unicode.ToUpper) }

// Lower takes a sentence's capital away, inside another one.
func Lower(text string) string { return withFirst(text, unicode.ToLower) }

func withFirst(text string, change func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(change(r)) + text[size:]
}

// Sentence makes a sentence of an error's text, which has neither capital nor full stop.
func Sentence(text string) string {
	text = Capital(strings.TrimSpace(text))
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:") {
		return text
	}
	return text + "."
}
