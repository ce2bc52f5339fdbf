package pyyaml

import (
	"bytes"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Mapping builds a mapping key by key; Set, List and Fields leave empty values out.
type Mapping struct {
	*yaml.Node
}

// NewMapping returns an empty one.
func NewMapping() *Mapping { return &Mapping{&yaml.Node{Kind: yaml.MappingNode}} }

// Add appends a key with whatever value.
func (y *Mapping) Add(key string, value *yaml.Node) {
	y.Content = append(y.Content, Bare(key), value)
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

// Fields appends a key with texts by name, sorted.
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

// Text writes it.
func (y *Mapping) Text() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(y.Node)
	return out.Bytes(), err
}

// Bare is a scalar as it stands: a number, a boolean, a plain name.
func Bare(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

// Exact is a value so that reading it gives the same text: bare where it is a number or
// a boolean, else in quotes.
// "1e5" is text to PyYAML and a number to YAML 1.2: quotes make it text to both. A number that Python would write
// differently ("1.50") is quoted, too, and so comes back as it was.
func Exact(text string) *yaml.Node {
	if value := Plain(text); !value.IsText && value.Text == text {
		return Bare(text)
	}
	return Quoted(text)
}

// Quoted is a text in double quotes, which every reader takes for a text.
func Quoted(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
}

// Flow is a mapping in one line, of keys, which are strings, and their nodes.
func Flow(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i := 0; i < len(pairs); i += 2 {
		node.Content = append(node.Content, Bare(pairs[i].(string)), pairs[i+1].(*yaml.Node))
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
