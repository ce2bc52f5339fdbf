package tasks

import (
	"regexp"
	"slices"
)

// maxTagLetters limits the length of a tag, so that a tag fits on one line of a phone.
const maxTagLetters = 24

var tagPattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// IsTag reports whether a word is valid as a tag.
func IsTag(word string) bool { return len(word) <= maxTagLetters && tagPattern.MatchString(word) }

// difficultyLevels returns the tags for difficulty, easiest first.
func difficultyLevels() []string { return []string{"beginner", "intermediate", "advanced"} }

// DifficultyOfTags returns the position of a task on the scale from easy to hard. A task without a tag for difficulty
// is in the middle.
func DifficultyOfTags(tags []string) int {
	for _, tag := range tags {
		if level := slices.Index(difficultyLevels(), tag); level >= 0 {
			return level
		}
	}
	return 1
}
