package job

import (
	"bytes"
	"fmt"
	"strings"
)

// bidiControls has the invisible characters that change the direction of text, so that a reader sees another text than
// the compiler.
const bidiControls = "\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069"

// HasBidiControls reports whether text contains a character of bidiControls.
func HasBidiControls(text []byte) bool {
	for _, r := range bidiControls {
		if bytes.Contains(text, []byte(string(r))) {
			return true
		}
	}
	return false
}

// MarkBidiControls replaces each bidirectional control character by a visible mark such as [U+202E].
func MarkBidiControls(text string) string {
	for _, r := range bidiControls {
		if strings.ContainsRune(text, r) {
			text = strings.ReplaceAll(text, string(r), fmt.Sprintf("[U+%04X]", r))
		}
	}
	return text
}
