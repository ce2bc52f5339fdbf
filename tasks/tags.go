package tasks

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

const maxTags = 8

func (r *taskReader) readTags(node *yaml.Node) []string {
	list := r.readMatchingTexts(node, "tags", IsTag, fmt.Sprintf("is not a tag: one has at most %d lower case letters, digits and hyphens between them, and begins with a letter", maxTagLetters))
	if len(list) > maxTags {
		r.addProblem(node, "tags", "has %d tags; at most %d are allowed", len(list), maxTags)
	}
	return list
}

func (r *taskReader) readProblemGroup(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	name := r.readScalar(node, "problem")
	if node.Kind == yaml.ScalarNode && name != "" && !IsTag(name) {
		r.addProblem(node, "problem", "%q is not a problem's name: it has at most %d lower case letters, digits and hyphens between them, and begins with a letter", name, maxTagLetters)
	}
	return name
}
