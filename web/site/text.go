package site

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// InvalidJSONText is a string in JSON that decoding would change, because it is not UTF-8 or contains half of a
// surrogate pair.
type InvalidJSONText struct {
	Path []string // keys and indexes down to it; for a broken key, down to its object
	Line int      // line of the text
}

// FindInvalidText returns the first broken string in a JSON body, or nil.
func FindInvalidText(body []byte) *InvalidJSONText {
	at := len(body)
	if !utf8.Valid(body) {
		at = firstInvalidByte(body)
	}
	if found := unpairedSurrogate(body[:at]); found >= 0 {
		at = found
	}
	if at == len(body) {
		return nil
	}
	w := NewJSONWalker(body[:at])
	for w.NextToken() {
	}
	return &InvalidJSONText{Path: openKeyPath(w.OpenContainers()), Line: jsonLineNumber(body[w.Offset():at])}
}

func firstInvalidByte(text []byte) (at int) {
	for at < len(text) {
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[at:])
		}
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// unpairedSurrogate returns the offset of an escape that is half of a surrogate pair, or -1.
func unpairedSurrogate(body []byte) int {
	for _, begin := range []string{`\ud`, `\uD`} {
		if bytes.Contains(body, []byte(begin)) {
			return firstUnpairedSurrogate(body)
		}
	}
	return -1
}

func firstUnpairedSurrogate(body []byte) int {
	for at := 0; at < len(body); at++ {
		if body[at] != '\\' {
			continue
		}
		code, ok := decodeEscape(body[at:])
		if !ok {
			at++ // skips the character after the backslash, which may be another backslash
			continue
		}
		if utf16.IsSurrogate(code) {
			second, _ := decodeEscape(body[at+6:])
			if utf16.DecodeRune(code, second) == utf8.RuneError {
				return at
			}
			at += 6
		}
		at += 5
	}
	return -1
}

// decodeEscape decodes a JSON escape such as \\u00e4 at the beginning of a text.
func decodeEscape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	code, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(code), err == nil
}

// jsonLineNumber returns the number of the line in which a piece of JSON ends.
func jsonLineNumber(json []byte) int {
	line := 1
	for at := 0; at+1 < len(json); at++ {
		if json[at] == '\\' {
			at++
			if json[at] == 'n' {
				line++
			}
		}
	}
	return line
}

// Limits of the path in an error message, whose keys the sender chooses.
const maxJSONDepth, maxKeyLength = 16, 80

func openKeyPath(open []JSONContainer) (path []string) {
	for _, in := range open {
		switch {
		case len(path) == maxJSONDepth:
			return append(path, "…")
		case in.IsList:
			path = append(path, strconv.Itoa(in.ElementCount))
		case in.IsInValue:
			path = append(path, fmt.Sprintf("%.*s", maxKeyLength, in.Key))
		}
	}
	return path
}
