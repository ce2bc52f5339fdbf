package tasks

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/pyyaml"
)

// KeyLines finds the lines of keys in a task.yml, which is parsed only once.
type KeyLines struct{ rootNode *yaml.Node }

// ParseKeyLines parses a text. If the text is invalid, LineOf returns 0 for each key.
func ParseKeyLines(text []byte) KeyLines {
	if len(text) > MaxYAML {
		return KeyLines{}
	}
	root, err := pyyaml.Parse(text)
	if err != nil {
		return KeyLines{}
	}
	return KeyLines{root}
}

// LineOf returns the line of a key as problems and warnings write it: "gpus", "config.main", "tests[1].seed". It is 0
// if there is no such key or its line is unknown.
func (l KeyLines) LineOf(key string) int {
	node, line := l.rootNode, 0
	if node == nil {
		return 0
	}
	for _, step := range keyStepPattern.FindAllStringSubmatch(key, -1) {
		if node, line = childNode(node, step[1], step[2]); node == nil {
			return 0
		}
	}
	return line
}

// keyStepPattern matches one step of a key: a name in a mapping or an index in a list.
var keyStepPattern = regexp.MustCompile(`([^.\[\]]+)|\[(\d+)\]`)

// childNode returns the child of a node by name or index, and its line; nil if there is none.
func childNode(node *yaml.Node, name, number string) (*yaml.Node, int) {
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

// WarningKey returns the first word of a warning, usually a key: "tests[1]" for "tests[1] has other arguments".
func WarningKey(warning string) string {
	word, _, _ := strings.Cut(warning, " ")
	return strings.TrimSuffix(word, ":")
}
