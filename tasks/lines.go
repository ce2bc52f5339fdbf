package tasks

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// Lines are the places of the keys of a task.yml, which is parsed once.
type Lines struct{ root *yaml.Node }

// LinesOf reads them. A text that cannot be read has none.
func LinesOf(text []byte) Lines {
	if len(text) > MaxYAML {
		return Lines{}
	}
	root, err := pyyaml.Parse(text)
	if err != nil {
		return Lines{}
	}
	return Lines{root}
}

// Of is the line that has a key, as problems and warnings name it: "gpus", "config.main", "tests[1].seed". It is 0 where
// there is no such key, or no line can be told.
func (l Lines) Of(key string) int {
	node, line := l.root, 0
	if node == nil {
		return 0
	}
	for _, step := range keyStep.FindAllStringSubmatch(key, -1) {
		if node, line = child(node, step[1], step[2]); node == nil {
			return 0
		}
	}
	return line
}

// keyStep is a name in a mapping or a number in a list.
var keyStep = regexp.MustCompile(`([^.\[\]]+)|\[(\d+)\]`)

// child is what a node has below a name or a number, and its line; nil: nothing.
func child(node *yaml.Node, name, number string) (*yaml.Node, int) {
	if i, err := strconv.Atoi(number); err == nil && node.Kind == yaml.SequenceNode && i < len(node.Content) {
		return node.Content[i], node.Content[i].Line
	}
	if number != "" {
		return nil, 0
	}
	for i := 0; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1], node.Content[i].Line
		}
	}
	return nil, 0
}

// KeyIn is the key that a warning begins with: "tests[1]" of "tests[1] has other arguments". It need not be one.
func KeyIn(warning string) string {
	word, _, _ := strings.Cut(warning, " ")
	return strings.TrimSuffix(word, ":")
}
