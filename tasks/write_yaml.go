package tasks

import (
	"maps"
	"slices"

	"warpboard/tasks/pyyaml"

	"go.yaml.in/yaml/v3"
)

// yamlWriter builds a mapping key by key; empty values are left out.
type yamlWriter struct {
	root *yaml.Node
}

func (y *yamlWriter) add(key string, value *yaml.Node) {
	y.root.Content = append(y.root.Content, plain(key), value)
}

func (y *yamlWriter) set(key, text string) {
	if text != "" {
		y.add(key, quoted(text))
	}
}

func (y *yamlWriter) list(key string, texts []string) {
	if len(texts) > 0 {
		y.add(key, flowList(texts))
	}
}

func (y *yamlWriter) mapping(key string, texts map[string]string) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] != "" {
			node.Content = append(node.Content, quoted(name), quoted(texts[name]))
		}
	}
	if len(node.Content) > 0 {
		y.add(key, node)
	}
}

func (y *yamlWriter) config(d Definition) {
	config := &yamlWriter{root: &yaml.Node{Kind: yaml.MappingNode}}
	config.set("main", d.Config.Main)
	config.list("sources", d.Config.Sources)
	config.list("include_dirs", d.Config.IncludeDirs)
	defines := &yaml.Node{Kind: yaml.MappingNode}
	for _, define := range d.Config.Defines {
		value := plain("null")
		if define.Value != nil {
			value = quoted(*define.Value)
		}
		defines.Content = append(defines.Content, plain(define.Name), value)
	}
	if len(defines.Content) > 0 {
		config.add("defines", defines)
	}
	config.list("compile_flags", d.Config.CompileFlags)
	if len(config.root.Content) > 0 {
		y.add("config", config.root)
	}
}

func (y *yamlWriter) cases(key string, cases []Case) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range cases {
		node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, arg := range c {
			node.Content = append(node.Content, plain(arg.Name), caseValue(arg.Value))
		}
		list.Content = append(list.Content, node)
	}
	if len(cases) > 0 {
		y.add(key, list)
	}
}

// caseValue writes a value so that reading it gives the same text: bare where it is a number or
// a boolean, else in quotes.
func caseValue(text string) *yaml.Node {
	if value := pyyaml.Plain(text); !value.IsText && value.Text == text {
		return plain(text)
	}
	return quoted(text)
}

func plain(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

func quoted(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
}

func flow(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i := 0; i < len(pairs); i += 2 {
		node.Content = append(node.Content, plain(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return node
}

func flowList(texts []string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range texts {
		node.Content = append(node.Content, quoted(text))
	}
	return node
}
