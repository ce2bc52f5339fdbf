package pyyaml

import (
	"regexp"
	"strings"
)

// unclosed is the line in which the first bracket or quote was opened that nothing closes; 0: there is none. The parser finds
// such an error only where the text goes on, often lines below.
func unclosed(text string) int {
	var s openings
	for i, line := range strings.Split(text, "\n") {
		if s.read(strings.TrimSuffix(line, "\r"), i+1) {
			break
		}
	}
	switch {
	case len(s.open) > 0:
		return s.open[0].line
	case s.quote != 0:
		return s.quoteLine
	}
	return 0
}

// openings are what a text has opened up to some line.
type openings struct {
	open      []opening
	quote     rune // that a value stands in; 0: none
	quoteLine int
	block     int // the indent of the key of a text after | or >, plus one; 0: none
}

type opening struct {
	bracket rune
	line    int
}

var blockText = regexp.MustCompile(`(^|[:\-]\s+)[|>][-+0-9]*\s*(#.*)?$`)

// read reads a line; broken: something is closed where it cannot be, so that the rest cannot be told.
func (s *openings) read(line string, number int) (broken bool) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case s.block > 0 && (indent >= s.block || strings.TrimSpace(line) == ""):
		return false
	case s.quote == 0 && len(s.open) == 0 && blockText.MatchString(line):
		s.block = indent + 1
		return false
	}
	s.block = 0
	letters, before := []rune(line), ' ' // before is the last letter that is no space
	for i := 0; i < len(letters); i++ {
		r := letters[i]
		switch {
		case s.quote != 0:
			end := quoteEnd(letters[i:], s.quote)
			if end < 0 {
				return false
			}
			i, before = i+end, s.quote
			if s.quoteLine != number && !endsValue(letters[i+1:]) {
				return true // this was the start of another one
			}
			s.quote = 0
			continue
		case r == '#' && (i == 0 || letters[i-1] == ' '):
			return false
		case s.bracket(r, s.begins(before, i > 0 && letters[i-1] == ' '), number):
			return true
		}
		if r != ' ' {
			before = r
		}
	}
	return false
}

// bracket takes a letter outside of quotes; begins: a value can begin there.
func (s *openings) bracket(r rune, begins bool, number int) (broken bool) {
	last := len(s.open) - 1
	switch {
	case begins && (r == '"' || r == '\''):
		s.quote, s.quoteLine = r, number
	case (begins || last >= 0) && (r == '[' || r == '{'):
		s.open = append(s.open, opening{r, number})
	case last >= 0 && (r == ']' || r == '}'):
		if (r == ']') != (s.open[last].bracket == '[') {
			s.open = s.open[last:]
			return true
		}
		s.open = s.open[:last]
	}
	return false
}

// begins reports whether a value can begin after a letter: at the line's start, after a bracket, or after "- ", ": ", ",".
func (s *openings) begins(before rune, spaced bool) bool {
	switch before {
	case ' ', '[', '{':
		return true
	case ':', '-', '?':
		return spaced
	}
	return before == ',' && len(s.open) > 0
}

// quoteEnd is where a quoted text ends; -1: not in these letters.
func quoteEnd(letters []rune, quote rune) int {
	for i := 0; i < len(letters); i++ {
		switch {
		case quote == '"' && letters[i] == '\\', quote == '\'' && letters[i] == quote && i+1 < len(letters) && letters[i+1] == quote:
			i++
		case letters[i] == quote:
			return i
		}
	}
	return -1
}

// endsValue reports whether what follows a quoted text may follow one.
func endsValue(rest []rune) bool {
	text := strings.TrimSpace(string(rest))
	return text == "" || strings.ContainsRune(",]}:#", rune(text[0]))
}
