package pyyaml

import (
	"fmt"
	"strings"
)

// SuggestKey returns a hint with the known key that unknown probably stands for, or with all known keys.
func SuggestKey(unknown string, known []string) string {
	// With two letters, "tmieout" is found; with more, short keys would be suggested for anything.
	nearest, letters := "", 3
	for _, k := range known {
		if d := EditDistance(strings.ToLower(unknown), k); d < letters {
			nearest, letters = k, d
		}
	}
	if nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	return "; known are " + strings.Join(known, ", ")
}

// EditDistance returns the number of bytes to insert, delete, or replace to get from a to b. Keys are ASCII; for other
// letters it is only approximate.
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
