package inplace

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document is a YAML text with its tree as it is written, aliases and all.
type document struct {
	text  []byte
	lines []int // where each line begins
	root  *yaml.Node
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, b := range text {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// find is the place of a key in the root's content; -1: it is not there.
func (d document) find(key string) int {
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		if d.root.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// start is the first byte of a node. Columns count letters.
func (d document) start(node *yaml.Node) int {
	if node.Line < 1 || node.Line > len(d.lines) {
		return len(d.text)
	}
	at := d.lines[node.Line-1]
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(d.text[at:])
		at += size
	}
	return at
}

// lineOf is the first byte of the line that holds a byte, and nextLine the first of the one after it.
func (d document) lineOf(at int) int { return bytes.LastIndexByte(d.text[:at], '\n') + 1 }

func (d document) nextLine(at int) int {
	if i := bytes.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.text)
}

// end is the byte after a scalar, or after a list in brackets; ok is false where it is written in another form.
func (d document) end(node *yaml.Node) (end int, ok bool) {
	from := d.start(node)
	rest := d.text[from:]
	if node.Anchor != "" || node.Kind == yaml.AliasNode || node.Style&yaml.TaggedStyle != 0 {
		return 0, false
	}
	if node.Kind == yaml.SequenceNode && node.Style&yaml.FlowStyle != 0 {
		n, ok := bracketed(rest)
		return from + n, ok
	}
	if node.Kind != yaml.ScalarNode || node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 0, false
	}
	if node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		n, ok := quoted(rest)
		return from + n, ok
	}
	return from + len(node.Value), bytes.HasPrefix(rest, []byte(node.Value))
}

// quoted is the length of the text in quotes at the beginning of s, if it ends in its line.
func quoted(s []byte) (n int, ok bool) {
	if len(s) == 0 || s[0] != '"' && s[0] != '\'' {
		return 0, false
	}
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[0] == '"' && s[i] == '\\':
			i++
		case s[i] != s[0]:
		case s[0] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		default:
			return i + 1, true
		}
	}
	return 0, false
}

// bracketed is the length of the list in brackets at the beginning of s.
func bracketed(s []byte) (n int, ok bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth <= 0 {
				return i + 1, depth == 0
			}
		case c == '#' && i > 0 && strings.IndexByte(" \t\n", s[i-1]) >= 0:
			return 0, false // a comment would be lost
		case (c == '"' || c == '\'') && i > 0 && strings.IndexByte(" \t\n[,{:", s[i-1]) >= 0:
			n, ok := quoted(s[i:])
			if !ok {
				return 0, false
			}
			i += n - 1
		}
	}
	return 0, false
}
