package tasks

import "strings"

// Nearest is the known key that a mistyped one was probably meant to be: with two letters changed at most, or a
// part of the other's name; empty when none is so near.
func Nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(name), k); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if isPartOf(name, k) || isPartOf(k, name) {
			return k
		}
	}
	return ""
}

// shortestPart is the number of letters from which a part of a name stands for it.
const shortestPart = 4

func isPartOf(part, whole string) bool {
	plain := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s)) }
	part, whole = plain(part), plain(whole)
	return len(part) >= shortestPart && strings.Contains(whole, part)
}
