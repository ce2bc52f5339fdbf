package pyyaml

import (
	"regexp"
	"strings"
)

// unclosedLine returns the line of the first bracket or quote that is never closed, or 0. The parser reports the error
// only where the text continues, often many lines later.
func unclosedLine(text string) int {
	var s openBrackets
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

// openBrackets are the brackets and quotes that are open after some lines.
type openBrackets struct {
	open        []opening
	quote       rune // open quote; 0 if none
	quoteLine   int
	blockIndent int // indent of the key of a block text (| or >), plus one; 0 if none
}

type opening struct {
	bracket rune
	line    int
}

var blockText = regexp.MustCompile(`(^|[:\-]\s+)[|>][-+0-9]*\s*(#.*)?$`)

// read processes a line. broken is true if a bracket is closed in the wrong place, so that the rest of the text cannot
// be judged.
func (s *openBrackets) read(line string, number int) (broken bool) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case s.blockIndent > 0 && (indent >= s.blockIndent || strings.TrimSpace(line) == ""):
		return false
	case s.quote == 0 && len(s.open) == 0 && blockText.MatchString(line):
		s.blockIndent = indent + 1
		return false
	}
	s.blockIndent = 0
	letters, before := []rune(line), ' ' // before is the last non-space character
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
				return true // it was the start of another quote
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

// bracket processes a character outside of quotes. begins is true if a value can start there.
func (s *openBrackets) bracket(r rune, begins bool, number int) (broken bool) {
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

// begins reports whether a value can start after a character: at the line's start, after a bracket, or after "- ", ":
// ", ",".
func (s *openBrackets) begins(before rune, spaced bool) bool {
	switch before {
	case ' ', '[', '{':
		return true
	case ':', '-', '?':
		return spaced
	}
	return before == ',' && len(s.open) > 0
}

// quoteEnd returns the index of the quote that ends a quoted text, or -1 if it is not in letters.
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

// endsValue reports whether the characters after a quoted text may follow one.
func endsValue(rest []rune) bool {
	text := strings.TrimSpace(string(rest))
	return text == "" || strings.ContainsRune(",]}:#", rune(text[0]))
}
