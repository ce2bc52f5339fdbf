package pyyaml

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Mapping builds a YAML mapping key by key. Set, List, and Fields omit empty values.
type Mapping struct {
	*yaml.Node
}

// NewMapping returns an empty mapping.
func NewMapping() *Mapping { return &Mapping{&yaml.Node{Kind: yaml.MappingNode}} }

// Add appends a key with any value.
func (y *Mapping) Add(key string, value *yaml.Node) {
	y.Content = append(y.Content, PlainScalar(key), value)
}

// Set appends a key with a text.
func (y *Mapping) Set(key, text string) {
	if text != "" {
		y.Add(key, Quoted(text))
	}
}

// List appends a key with texts in one line.
func (y *Mapping) List(key string, texts []string) {
	if len(texts) > 0 {
		y.Add(key, flowList(texts))
	}
}

// Fields appends a key with a mapping of texts, sorted by name.
func (y *Mapping) Fields(key string, texts map[string]string) {
	node := NewMapping()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] != "" {
			node.Content = append(node.Content, Quoted(name), Quoted(texts[name]))
		}
	}
	if len(node.Content) > 0 {
		y.Add(key, node.Node)
	}
}

// Text returns the YAML text.
func (y *Mapping) Text() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(y.Node)
	return out.Bytes(), err
}

// PlainScalar returns an unquoted scalar, for a number, a boolean, or a name that needs no quotes.
func PlainScalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

// Float returns a number in a form that PyYAML, too, reads as a float.
func Float(f float64) *yaml.Node { return PlainScalar(pythonNumber(floatRepr(f))) }

// PythonTextNode returns a node for which PythonText returns text: unquoted for a number or a boolean, otherwise
// quoted. "1e5" is text to PyYAML and a number to YAML 1.2: quotes make it text to both. A number that Python would
// write differently ("1.50") is quoted to stay unchanged.
func PythonTextNode(text string) *yaml.Node {
	if value := Plain(text); !value.IsText && value.Text == text {
		return PlainScalar(text)
	}
	return Quoted(text)
}

// PythonLiteralNode returns a node for which PythonLiteral returns text: a list for a Python list, quoted for a Python
// string, unquoted for other literals.
func PythonLiteralNode(text string) *yaml.Node {
	if strings.ContainsAny(text[:min(1, len(text))], `['"`) {
		if node, rest, ok := fromPython(text); ok && rest == "" {
			return node
		}
	}
	if text == "None" {
		return PlainScalar("null")
	}
	if looksLiteral(text) && Plain(text).Text == text {
		return PlainScalar(text)
	}
	return PythonTextNode(text)
}

// fromPython parses a Python list, string, or number, as repr writes it, at the start of text, and returns the rest.
func fromPython(text string) (node *yaml.Node, rest string, ok bool) {
	switch {
	case strings.HasPrefix(text, "["):
		node, rest = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}, text[1:]
		for !strings.HasPrefix(rest, "]") {
			var item *yaml.Node
			if item, rest, ok = fromPython(rest); !ok {
				return nil, "", false
			}
			node.Content, rest = append(node.Content, item), strings.TrimPrefix(rest, ", ")
		}
		return node, rest[1:], true
	case strings.HasPrefix(text, "'"), strings.HasPrefix(text, `"`):
		return textFromPython(text)
	}
	if end := strings.IndexAny(text, ",]"); end > 0 {
		return PlainScalar(pythonNumber(text[:end])), text[end:], true
	}
	return nil, "", false
}

// textFromPython parses a Python string in quotes at the start of text, and returns the rest.
func textFromPython(text string) (node *yaml.Node, rest string, ok bool) {
	var plain strings.Builder
	for rest = text[1:]; rest != "" && rest[0] != text[0]; {
		letter, _, after, err := strconv.UnquoteChar(rest, 0)
		if err != nil && len(rest) > 1 { // a quote character, which Go escapes only in its own quotes
			letter, after = rune(rest[1]), rest[2:]
		}
		plain.WriteRune(letter)
		rest = after
	}
	if rest == "" {
		return nil, "", false
	}
	return Quoted(plain.String()), rest[1:], true
}

// pythonNumber returns a Python number or word in a form that PyYAML understands.
func pythonNumber(text string) string {
	if yaml := map[string]string{"None": "null", "inf": ".inf", "-inf": "-.inf", "nan": ".nan"}[text]; yaml != "" {
		return yaml
	}
	return shortFloat.ReplaceAllString(text, "${1}.0e$2")
}

// shortFloat matches a float without a dot, which PyYAML treats as text.
var shortFloat = regexp.MustCompile(`^(-?[0-9]+)e([-+][0-9]+)$`)

// Quoted returns a text in double quotes, which every YAML library reads as text.
func Quoted(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
}

// Flow returns a mapping on one line, from keys (strings) and their nodes.
func Flow(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i := 0; i < len(pairs); i += 2 {
		node.Content = append(node.Content, PlainScalar(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return node
}

func flowList(texts []string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range texts {
		node.Content = append(node.Content, Quoted(text))
	}
	return node
}
