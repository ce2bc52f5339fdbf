package tasks

import (
	"strings"
	"unicode"

	"warpboard/tasks/pyyaml"

	"go.yaml.in/yaml/v3"
)

// cases reads a list of flat mappings; a case keeps its arguments in file order.
func (r *taskReader) cases(node *yaml.Node, key string) []Case {
	items := r.items(node, key)
	if len(items) > MaxCases {
		r.refuse(node, key, "has %d cases; at most %d are allowed", len(items), MaxCases)
		return nil
	}
	var out []Case
	for i, item := range items {
		out = append(out, r.oneCase(item, index(key, i)))
	}
	return out
}

func (r *taskReader) oneCase(node *yaml.Node, key string) Case {
	var out Case
	for name, value := range r.pairs(node, key) {
		at := join(key, name.Value)
		if !identifier.MatchString(name.Value) {
			r.refuse(name, at, "an argument's name is made of letters, digits and _, and does not start with a digit")
			continue
		}
		text, ok := pyyaml.String(value)
		switch {
		case !ok:
			r.refuse(value, at, "must be one value or a list of values")
		case strings.Contains(text, ";") || strings.ContainsFunc(text, unicode.IsControl):
			r.refuse(value, at, "must not hold ; or control characters: the case is written as one line of \"name: value; name: value\"")
		default:
			out = append(out, Arg{Name: name.Value, Value: text})
		}
	}
	if len(node.Content) == 0 && node.Kind == yaml.MappingNode {
		r.refuse(node, key, "has no arguments")
	}
	return out
}
