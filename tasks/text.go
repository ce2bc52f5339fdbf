package tasks

import (
	"fmt"
	"unicode/utf8"

	"warpboard/tasks/parse"
)

// CheckText refuses a text that is not UTF-8 with a Problem at the line of its first invalid byte, which JSON would
// replace.
func CheckText(file string, text []byte) error {
	for i, line := 0, 1; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return parse.Problem{
				File:    file,
				Line:    line,
				Message: fmt.Sprintf("the byte 0x%02X is not UTF-8 text: save the file as UTF-8", text[i]),
			}
		}
		if r == '\n' {
			line++
		}
		i += size
	}
	return nil
}
