package syntax

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// TokenClass is the class of a token, named as in the stylesheet.
type TokenClass string

// Classes of tokens.
const (
	PlainToken  TokenClass = ""
	Keyword     TokenClass = "k"
	TypeName    TokenClass = "kt"
	String      TokenClass = "s"
	Comment     TokenClass = "c"
	Number      TokenClass = "m"
	DefinedName TokenClass = "nf" // name of a function or class at its definition
	BuiltinName TokenClass = "nb"
	Decorator   TokenClass = "nd"
	Directive   TokenClass = "cp"
)

// Tokens splits a text into tokens. Concatenated, they are the text.
func (l *Language) Tokens(text string) iter.Seq2[TokenClass, string] {
	return func(yield func(TokenClass, string) bool) {
		if l.wordClasses == nil && text != "" {
			yield(PlainToken, text)
			return
		}
		s := scanner{Language: l, unscannedText: text, atLineStart: true}
		for s.unscannedText != "" {
			class, size := s.nextToken()
			token := s.unscannedText[:size]
			if !yield(class, token) {
				return
			}
			s.advance(class, token)
		}
	}
}

// scanner splits a text into tokens; it has the position of the next one.
type scanner struct {
	*Language
	unscannedText  string
	atLineStart    bool   // the line has only whitespace so far
	expectsInclude bool   // a file name for #include comes next
	previousWord   string // the previous word, if followed only by whitespace
}

// advance advances past a token.
func (s *scanner) advance(class TokenClass, token string) {
	s.unscannedText = s.unscannedText[len(token):]
	if isSpace(token[0]) {
		newline := strings.Contains(token, "\n")
		s.atLineStart, s.expectsInclude = s.atLineStart || newline, s.expectsInclude && !newline
		return
	}
	s.atLineStart, s.previousWord = false, ""
	if isLetter(token[0]) {
		s.previousWord = token
	}
	s.expectsInclude = class == Directive && strings.HasSuffix(token, "include")
}

// nextToken returns the class and the size of the next token. The size is at least 1.
func (s *scanner) nextToken() (TokenClass, int) {
	text, first := s.unscannedText, s.unscannedText[0]
	switch {
	case isSpace(first):
		return PlainToken, prefixLength(text, isSpace)
	case s.lineCommentStart != "" && strings.HasPrefix(text, s.lineCommentStart):
		return Comment, lineEnd(text)
	case s.hasBlockComments && strings.HasPrefix(text, "/*"):
		return Comment, sizeUntilAfter(text, 2, "*/")
	case s.hasDirectives && s.atLineStart && first == '#':
		blank := prefixLength(text[1:], func(c byte) bool { return c == ' ' || c == '\t' })
		return Directive, 1 + blank + prefixLength(text[1+blank:], isWordByte)
	case s.expectsInclude && first == '<':
		return String, min(lineEnd(text), sizeUntilAfter(text[:lineEnd(text)], 1, ">"))
	case s.hasDecorators && s.atLineStart && first == '@':
		return Decorator, 1 + prefixLength(text[1:], func(c byte) bool { return isWordByte(c) || c == '.' })
	case strings.IndexByte(s.quoteCharacters, first) >= 0:
		return String, s.stringSize(text)
	case isDigit(first) || first == '.' && len(text) > 1 && isDigit(text[1]):
		return Number, s.numberSize(text)
	case isLetter(first):
		return s.scanWord(text)
	}
	return PlainToken, 1
}

// scanWord scans a word, or a string with a prefix.
func (s *scanner) scanWord(text string) (TokenClass, int) {
	size := prefixLength(text, isWordByte)
	word, behind := text[:size], text[size:]
	if behind != "" && size <= maxStringPrefixLength && strings.IndexByte(s.quoteCharacters, behind[0]) >= 0 && s.stringPrefixes[strings.ToLower(word)] {
		if s.hasBlockComments && word[size-1] == 'R' && behind[0] == '"' {
			return String, size + rawStringSize(behind)
		}
		return String, size + s.stringSize(behind)
	}
	class, known := s.wordClasses[word]
	switch {
	case known:
		return class, size
	case s.definingWords[s.previousWord], s.hasFunctionSyntax && s.previousWord != "" && strings.HasPrefix(behind, "(") &&
		s.isType(s.previousWord):
		return DefinedName, size
	}
	return PlainToken, size
}

// isType reports whether a word may be the result type of a function that follows.
func (s *scanner) isType(word string) bool {
	class, known := s.wordClasses[word]
	return !known || class == TypeName
}

// stringSize returns the size of the string that starts at the position of the scanner. A string without an end is one
// line.
func (s *scanner) stringSize(text string) int {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); s.hasTripleQuotes && strings.HasPrefix(text, triple) {
		quote = triple
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '\n' && len(quote) == 1:
			return i
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		}
	}
	return len(text)
}

// rawStringSize returns the size of a C++ raw string, which ends with the delimiter before its parenthesis: "x(…)x".
func rawStringSize(text string) int {
	open := strings.IndexByte(text[:min(len(text), maxRawDelimiterLength+2)], '(')
	if open < 0 {
		return 1
	}
	return sizeUntilAfter(text, open, ")"+text[1:open]+`"`)
}

const (
	maxStringPrefixLength = 3  // letters of a prefix, as in rb"…"
	maxRawDelimiterLength = 16 // characters before the parenthesis of a raw string, by the C++ standard
)

// numberSize returns the size of a number, including the sign of the exponent and any following letters.
func (s *scanner) numberSize(text string) int {
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	for i := 1; i < len(text); i++ {
		c, last := text[i], text[i-1]|0x20
		sign := (c == '+' || c == '-') && (last == 'p' && hex || last == 'e' && !hex)
		separator := c == '\'' && s.hasFunctionSyntax && i+1 < len(text) && isWordByte(text[i+1])
		if !isWordByte(c) && c != '.' && !sign && !separator {
			return i
		}
	}
	return len(text)
}

// sizeUntilAfter returns the index behind the first occurrence of end at or after the index from. Without an occurrence
// it returns the length of text.
func sizeUntilAfter(text string, from int, end string) int {
	if at := strings.Index(text[from:], end); at >= 0 {
		return from + at + len(end)
	}
	return len(text)
}

func lineEnd(text string) int {
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		return at
	}
	return len(text)
}

// prefixLength returns the number of bytes at the start that satisfy of.
func prefixLength(text string, of func(byte) bool) int {
	n := 0
	for n < len(text) && of(text[n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool    { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }
