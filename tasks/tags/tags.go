package tags

import (
	"regexp"
	"slices"
)

// MostLetters keeps a tag shorter than a line of a phone.
const MostLetters = 24

var name = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Is reports whether a word can be a tag.
func Is(word string) bool { return len(word) <= MostLetters && name.MatchString(word) }

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
