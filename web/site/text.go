package site

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// BrokenText is a text in JSON that a reader would change: it is not UTF-8, or has half of a surrogate pair.
type BrokenText struct {
	Path []string // keys, and numbers of elements, down to it; of a key that is broken, to its object
	Line int      // of the text
}

// FindBrokenText finds the first text that is broken in a body that is JSON; nil: all are whole.
func FindBrokenText(body []byte) *BrokenText {
	at := len(body)
	if !utf8.Valid(body) {
		at = invalidByte(body)
	}
	if found := halfPair(body[:at]); found >= 0 {
		at = found
	}
	if at == len(body) {
		return nil
	}
	w := NewWalk(body[:at])
	for w.Step() {
	}
	return &BrokenText{Path: pathTo(w.Open()), Line: lineOf(body[w.Offset():at])}
}

func invalidByte(text []byte) (at int) {
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

// halfPair finds an escape that is half of a surrogate pair; -1: there is none.
func halfPair(body []byte) int {
	for _, begin := range []string{`\ud`, `\uD`} {
		if bytes.Contains(body, []byte(begin)) {
			return firstHalfPair(body)
		}
	}
	return -1
}

func firstHalfPair(body []byte) int {
	for at := 0; at < len(body); at++ {
		if body[at] != '\\' {
			continue
		}
		unit, ok := escaped(body[at:])
		if !ok {
			at++ // what it escapes begins no other escape
			continue
		}
		if utf16.IsSurrogate(unit) {
			second, _ := escaped(body[at+6:])
			if utf16.DecodeRune(unit, second) == utf8.RuneError {
				return at
			}
			at += 6
		}
		at += 5
	}
	return -1
}

// escaped reads an escape like \u00e4 at the beginning of a text.
func escaped(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}

// lineOf counts the lines of the text that a piece of JSON ends in.
func lineOf(json []byte) int {
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

// Limits for the path in an error: the sender of the body chose the keys.
const mostSteps, mostOfKey = 16, 80

func pathTo(open []Place) (path []string) {
	for _, in := range open {
		switch {
		case len(path) == mostSteps:
			return append(path, "…")
		case in.List:
			path = append(path, strconv.Itoa(in.Number))
		case in.Valued:
			path = append(path, fmt.Sprintf("%.*s", mostOfKey, in.Key))
		}
	}
	return path
}
