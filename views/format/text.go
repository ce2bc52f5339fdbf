package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// UpperFirst makes the first letter a capital.
func UpperFirst(text string) string { return changeFirstRune(text, unicode.ToUpper) }

// LowerFirst makes the first letter lowercase, for use inside another sentence.
func LowerFirst(text string) string { return changeFirstRune(text, unicode.ToLower) }

func changeFirstRune(text string, change func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(change(r)) + text[size:]
}

// ErrorSentence formats an error's text, which has neither capital nor period, as a sentence.
func ErrorSentence(text string) string {
	text = UpperFirst(strings.TrimSpace(text))
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:") {
		return text
	}
	return text + "."
}
