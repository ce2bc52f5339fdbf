package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// BrokenText is a text in JSON that reading would change: it has a byte that is no UTF-8, or half of a surrogate pair.
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
	w := walk{json.NewDecoder(bytes.NewReader(body[:at])), nil}
	for w.step() {
	}
	return &BrokenText{Path: w.path(), Line: lineOf(body[w.decoder.InputOffset():at])}
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

// walk follows JSON token by token, and knows where it is.
type walk struct {
	decoder *json.Decoder
	open    []place // objects and lists that are open
}

type place struct {
	list   bool
	number int // of the element
	key    string
	valued bool // the key has been read, its value has not
}

// step reads one token; it reports false at the end.
func (w *walk) step() bool {
	token, err := w.decoder.Token()
	if err != nil {
		return false
	}
	switch token {
	case json.Delim('{'), json.Delim('['):
		w.open = append(w.open, place{list: token == json.Delim('[')})
		return true
	case json.Delim('}'), json.Delim(']'):
		w.open = w.open[:len(w.open)-1]
	}
	if len(w.open) == 0 {
		return true
	}
	switch in := &w.open[len(w.open)-1]; {
	case in.list:
		in.number++
	case in.valued:
		in.valued = false
	default:
		in.key, in.valued = token.(string)
	}
	return true
}

// What a path says of where it is: the sender of the body chose the keys.
const mostSteps, mostOfKey = 16, 80

func (w *walk) path() (path []string) {
	for _, in := range w.open {
		switch {
		case len(path) == mostSteps:
			return append(path, "…")
		case in.list:
			path = append(path, strconv.Itoa(in.number))
		case in.valued:
			path = append(path, fmt.Sprintf("%.*s", mostOfKey, in.key))
		}
	}
	return path
}
