package device

import (
	"slices"
	"strings"
)

// boardName is the name under which a GPU has its boards: its model, without its maker, form and
// memory, so that "NVIDIA A100-SXM4-80GB" is on the board "A100" and "Tesla T4" on "T4". It is
// made of the words up to the first that has a digit, and of the words after that which tell
// models apart: "NVIDIA GeForce RTX 4070 Ti SUPER" is "RTX-4070-Ti-SUPER".
func boardName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	words = slices.DeleteFunc(words, func(word string) bool {
		return slices.Contains([]string{"NVIDIA", "Tesla", "Quadro", "GeForce"}, word)
	})
	end := slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word, "0123456789") }) + 1
	if end == 0 {
		end = len(words) // "TITAN RTX"
	}
	for end < len(words) && slices.Contains([]string{"Ti", "SUPER", "Ada", "D"}, words[end]) {
		end++
	}
	if len(words) == 0 {
		return name
	}
	return strings.Join(words[:end], "-")
}
