package inplace

import (
	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// Values are the values at the top of a YAML text that Set could have written, by key: of one scalar, or of a list of them.
func Values(text []byte) (map[string]Value, error) {
	_, meant, err := read(text)
	if err != nil {
		return nil, err
	}
	values := map[string]Value{}
	for i := 0; meant.Kind == yaml.MappingNode && i+1 < len(meant.Content); i += 2 {
		if value, ok := valueOf(meant.Content[i+1]); ok {
			values[meant.Content[i].Value] = value
		}
	}
	return values, nil
}

func valueOf(node *yaml.Node) (v Value, ok bool) {
	switch {
	case pyyaml.IsNull(node):
		return v, false
	case node.Kind == yaml.ScalarNode:
		return Value{Text: node.Value, Bare: !pyyaml.Scalar(node).IsText}, true
	case node.Kind != yaml.SequenceNode:
		return v, false
	}
	v.List = []string{}
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode {
			return v, false
		}
		v.List = append(v.List, item.Value)
	}
	return v, true
}
