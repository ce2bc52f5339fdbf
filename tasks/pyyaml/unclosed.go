package pyyaml

import (
	"regexp"
	"strings"
)

// unclosedBracketLine returns the line of the first bracket or quote that is never closed, or 0. The parser reports the
// error only where the text continues, often many lines later.
func unclosedBracketLine(text string) int {
	var s openBrackets
	for i, line := range strings.Split(text, "\n") {
		if s.readLine(strings.TrimSuffix(line, "\r"), i+1) {
			break
		}
	}
	switch {
	case len(s.brackets) > 0:
		return s.brackets[0].line
	case s.openQuote != 0:
		return s.quoteLine
	}
	return 0
}

// openBrackets are the brackets and quotes that are open after some lines.
type openBrackets struct {
	brackets    []openBracket
	openQuote   rune // open quote; 0 if none
	quoteLine   int
	blockIndent int // indent of the key of a block text (| or >), plus one; 0 if none
}

type openBracket struct {
	character rune
	line      int
}

var blockTextPattern = regexp.MustCompile(`(^|[:\-]\s+)[|>][-+0-9]*\s*(#.*)?$`)

// readLine processes a line. broken is true if a bracket is closed in the wrong place, so that the rest of the text
// cannot be judged.
func (s *openBrackets) readLine(line string, number int) (broken bool) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case s.blockIndent > 0 && (indent >= s.blockIndent || strings.TrimSpace(line) == ""):
		return false
	case s.openQuote == 0 && len(s.brackets) == 0 && blockTextPattern.MatchString(line):
		s.blockIndent = indent + 1
		return false
	}
	s.blockIndent = 0
	letters, before := []rune(line), ' ' // before is the last non-space character so far
	for i := 0; i < len(letters); i++ {
		r := letters[i]
		switch {
		case s.openQuote != 0:
			end := closingQuoteIndex(letters[i:], s.openQuote)
			if end < 0 {
				return false
			}
			i, before = i+end, s.openQuote
			if s.quoteLine != number && !canFollowQuoted(letters[i+1:]) {
				return true // this quote starts another text, so an earlier one is not closed
			}
			s.openQuote = 0
			continue
		case r == '#' && (i == 0 || letters[i-1] == ' '):
			return false
		case s.readCharacter(r, s.canBeginValue(before, i > 0 && letters[i-1] == ' '), number):
			return true
		}
		if r != ' ' {
			before = r
		}
	}
	return false
}

// readCharacter processes a character outside of quotes. begins is true if a value can start there.
func (s *openBrackets) readCharacter(r rune, begins bool, number int) (broken bool) {
	last := len(s.brackets) - 1
	switch {
	case begins && (r == '"' || r == '\''):
		s.openQuote, s.quoteLine = r, number
	case (begins || last >= 0) && (r == '[' || r == '{'):
		s.brackets = append(s.brackets, openBracket{r, number})
	case last >= 0 && (r == ']' || r == '}'):
		if (r == ']') != (s.brackets[last].character == '[') {
			s.brackets = s.brackets[last:]
			return true
		}
		s.brackets = s.brackets[:last]
	}
	return false
}

// canBeginValue reports whether a value can start after a character: at the line's start, after a bracket, or after "-
// ", ": ", ",".
func (s *openBrackets) canBeginValue(before rune, spaced bool) bool {
	switch before {
	case ' ', '[', '{':
		return true
	case ':', '-', '?':
		return spaced
	}
	return before == ',' && len(s.brackets) > 0
}

// closingQuoteIndex returns the index of the quote that ends a quoted text, or -1 if letters has no such quote.
func closingQuoteIndex(letters []rune, quote rune) int {
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

// canFollowQuoted reports whether the characters after a quoted text may follow one.
func canFollowQuoted(rest []rune) bool {
	text := strings.TrimSpace(string(rest))
	return text == "" || strings.ContainsRune(",]}:#", rune(text[0]))
}
