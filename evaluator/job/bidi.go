package job

import (
	"bytes"
	"fmt"
	"strings"
)

// bidiControls turn the direction of the text after them, unseen: what is read is then not what is there.
const bidiControls = "\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069"

// HasBidi reports whether text has a control of direction.
func HasBidi(text []byte) bool {
	for _, r := range bidiControls {
		if bytes.Contains(text, []byte(string(r))) {
			return true
		}
	}
	return false
}

// ShowBidi puts a mark that can be read, like [U+202E], where text has a control of direction.
func ShowBidi(text string) string {
	for _, r := range bidiControls {
		if strings.ContainsRune(text, r) {
			text = strings.ReplaceAll(text, string(r), fmt.Sprintf("[U+%04X]", r))
		}
	}
	return text
}
