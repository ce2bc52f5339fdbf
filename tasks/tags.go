package tasks

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

const maxTags = 8

var tagName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxTag keeps a tag shorter than a line of a phone.
const maxTag = 24

// levels are the tags that say how hard a task is, the easy one first.
func levels() []string { return []string{"beginner", "intermediate", "advanced"} }

// Difficulty is where a task with these tags stands among others, from easy to hard. One that does not say is in the middle.
func Difficulty(tags []string) int {
	for _, tag := range tags {
		if level := slices.Index(levels(), tag); level >= 0 {
			return level
		}
	}
	return 1
}

// IsTag reports whether a word can be a tag.
func IsTag(word string) bool { return len(word) <= maxTag && tagName.MatchString(word) }

func (r *taskReader) tags(node *yaml.Node) []string {
	tags := r.matching(node, "tags", IsTag, fmt.Sprintf("is not a tag: one has at most %d lower case letters, digits and hyphens between them, and begins with a letter", maxTag))
	if len(tags) > maxTags {
		r.refuse(node, "tags", "has %d tags; at most %d are allowed", len(tags), maxTags)
	}
	return tags
}
