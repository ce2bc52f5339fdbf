package tasks

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// LineOf is the line of a task.yml that has a key, as problems and warnings name it: "gpus", "config.main", "tests[1].seed".
// It is 0 where there is no such key, or no line can be told.
func LineOf(text []byte, key string) int {
	if len(text) > MaxYAML {
		return 0
	}
	node, err := pyyaml.Parse(text)
	if err != nil {
		return 0
	}
	line := 0
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
