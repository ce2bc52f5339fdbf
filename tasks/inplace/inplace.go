package inplace

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// Value is what a key is set to: one scalar, or a list of texts. The zero Value takes the key away.
type Value struct {
	Text string
	Bare bool // a number or a word that is not text, written without quotes
	List []string
}

func (v Value) empty() bool { return v.Text == "" && len(v.List) == 0 }

// otherBreaks end lines in YAML, and not here.
var otherBreaks = regexp.MustCompile("\r(?:[^\n]|$)|[\u0085\u2028\u2029]")

// oneLine reports whether the value can be written in one line.
func (v Value) oneLine() bool {
	return !slices.ContainsFunc(append(slices.Clone(v.List), v.Text), func(text string) bool {
		return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	})
}

// Error says why a value cannot be changed in its place.
type Error struct {
	Key  string
	Line int // where the key is; 0 if it is not there
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s cannot be added here: write it into the text", e.Key)
	}
	return fmt.Sprintf("%s in line %d is written in a form that can only be changed in the text", e.Key, e.Line)
}

// Set gives the key at the top of a YAML text a value. A key that is not there is added after the nearest one that comes
// before it in order, which lists keys as authors write them.
func Set(text []byte, key string, value Value, order []string) ([]byte, error) {
	root, before, err := read(text)
	if err != nil {
		return nil, err
	}
	d := document{text: text, lines: lineStarts(text), root: root}
	at := d.find(key)
	failed := &Error{Key: key}
	var candidates [][]byte
	switch {
	case !value.oneLine() || otherBreaks.Match(text) || root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0:
	case at < 0 && value.empty():
		return text, nil
	case at < 0:
		candidates = d.added(key, value, order)
	default:
		failed.Line = root.Content[at].Line
		candidates = d.changed(at, value)
	}
	for _, candidate := range candidates {
		if _, after, err := read(candidate); err == nil && changedOnly(before, after, key, value) {
			return candidate, nil
		}
	}
	return nil, failed
}

// read parses a text: as it is written, and as it is meant.
func read(text []byte) (written, meant *yaml.Node, err error) {
	if meant, err = pyyaml.Parse(text); err != nil {
		return nil, nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, nil, fmt.Errorf("reading YAML: %w", err)
	}
	return document.Content[0], meant, nil
}

// changedOnly reports whether after has the value at the key, and everything else as before.
func changedOnly(before, after *yaml.Node, key string, value Value) bool {
	if after.Kind != yaml.MappingNode {
		return false
	}
	oldRest, _ := without(before, key)
	rest, set := without(after, key)
	if !slices.EqualFunc(oldRest, rest, same) {
		return false
	}
	if value.empty() {
		return set == nil
	}
	return set != nil && value.is(set)
}

// without splits a mapping into all but one key, and that one's value.
func without(mapping *yaml.Node, key string) (rest []*yaml.Node, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			value = mapping.Content[i+1]
			continue
		}
		rest = append(rest, mapping.Content[i], mapping.Content[i+1])
	}
	return rest, value
}

func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.Tag == b.Tag && a.Style == b.Style && slices.EqualFunc(a.Content, b.Content, same)
}

// is reports whether a node is read as the value.
func (v Value) is(node *yaml.Node) bool {
	if v.List != nil {
		return node.Kind == yaml.SequenceNode && slices.EqualFunc(node.Content, v.List, isText)
	}
	if v.Bare {
		return node.Kind == yaml.ScalarNode && node.Value == v.Text && !pyyaml.Scalar(node).IsText
	}
	return isText(node, v.Text)
}

func isText(node *yaml.Node, text string) bool {
	return node.Kind == yaml.ScalarNode && node.Value == text && pyyaml.Scalar(node).IsText
}

// splice replaces a part of a text.
func splice(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}

// lineEnd is how a text ends its lines.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
