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

// Mapping builds a YAML mapping key by key. SetText, SetList, and SetTexts omit empty values.
type Mapping struct {
	*yaml.Node
}

// NewMapping returns an empty mapping.
func NewMapping() *Mapping { return &Mapping{&yaml.Node{Kind: yaml.MappingNode}} }

// AddNode appends a key with any value.
func (y *Mapping) AddNode(key string, value *yaml.Node) {
	y.Content = append(y.Content, UnquotedNode(key), value)
}

// SetText appends a key with a text.
func (y *Mapping) SetText(key, text string) {
	if text != "" {
		y.AddNode(key, QuotedNode(text))
	}
}

// SetList appends a key with texts in one line.
func (y *Mapping) SetList(key string, texts []string) {
	if len(texts) > 0 {
		y.AddNode(key, flowListNode(texts))
	}
}

// SetTexts appends a key with a mapping of texts, sorted by name.
func (y *Mapping) SetTexts(key string, texts map[string]string) {
	node := NewMapping()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] != "" {
			node.Content = append(node.Content, QuotedNode(name), QuotedNode(texts[name]))
		}
	}
	if len(node.Content) > 0 {
		y.AddNode(key, node.Node)
	}
}

// FormatYAML returns the YAML text.
func (y *Mapping) FormatYAML() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(y.Node)
	return out.Bytes(), err
}

// UnquotedNode returns an unquoted scalar, for a number, a boolean, or a name that needs no quotes.
func UnquotedNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

// FloatNode returns a number in a form that PyYAML, too, reads as a float.
func FloatNode(f float64) *yaml.Node { return UnquotedNode(pythonNumber(floatRepr(f))) }

// PythonTextNode returns a node for which PythonText returns text: unquoted for a number or a boolean, otherwise
// quoted. "1e5" is text to PyYAML and a number to YAML 1.2: quotes make it text to both. A number that Python would
// write differently ("1.50") is quoted to stay unchanged.
func PythonTextNode(text string) *yaml.Node {
	if value := InterpretUnquoted(text); !value.IsText && value.Text == text {
		return UnquotedNode(text)
	}
	return QuotedNode(text)
}

// PythonLiteralNode returns a node for which PythonLiteral returns text: a list for a Python list, quoted for a Python
// string, unquoted for other literals.
func PythonLiteralNode(text string) *yaml.Node {
	if strings.ContainsAny(text[:min(1, len(text))], `['"`) {
		if node, rest, ok := parsePythonValue(text); ok && rest == "" {
			return node
		}
	}
	if text == "None" {
		return UnquotedNode("null")
	}
	if looksLikeLiteral(text) && InterpretUnquoted(text).Text == text {
		return UnquotedNode(text)
	}
	return PythonTextNode(text)
}

// parsePythonValue parses a Python list, string, or number, as repr writes it, at the start of text, and returns the
// rest.
func parsePythonValue(text string) (node *yaml.Node, rest string, ok bool) {
	switch {
	case strings.HasPrefix(text, "["):
		node, rest = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}, text[1:]
		for !strings.HasPrefix(rest, "]") {
			var item *yaml.Node
			if item, rest, ok = parsePythonValue(rest); !ok {
				return nil, "", false
			}
			node.Content, rest = append(node.Content, item), strings.TrimPrefix(rest, ", ")
		}
		return node, rest[1:], true
	case strings.HasPrefix(text, "'"), strings.HasPrefix(text, `"`):
		return parsePythonString(text)
	}
	if end := strings.IndexAny(text, ",]"); end > 0 {
		return UnquotedNode(pythonNumber(text[:end])), text[end:], true
	}
	return nil, "", false
}

// parsePythonString parses a Python string in quotes at the start of text, and returns the rest.
func parsePythonString(text string) (node *yaml.Node, rest string, ok bool) {
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
	return QuotedNode(plain.String()), rest[1:], true
}

// pythonNumber returns a Python number or word in a form that PyYAML understands.
func pythonNumber(text string) string {
	if yaml := map[string]string{"None": "null", "inf": ".inf", "-inf": "-.inf", "nan": ".nan"}[text]; yaml != "" {
		return yaml
	}
	return dotlessFloatPattern.ReplaceAllString(text, "${1}.0e$2")
}

// dotlessFloatPattern matches a float without a dot, which PyYAML treats as text.
var dotlessFloatPattern = regexp.MustCompile(`^(-?[0-9]+)e([-+][0-9]+)$`)

// QuotedNode returns a text in double quotes, which every YAML library reads as text.
func QuotedNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
}

// FlowMapping returns a mapping on one line, from keys (strings) and their nodes.
func FlowMapping(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i := 0; i < len(pairs); i += 2 {
		node.Content = append(node.Content, UnquotedNode(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return node
}

func flowListNode(texts []string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range texts {
		node.Content = append(node.Content, QuotedNode(text))
	}
	return node
}
