package pyyaml

import (
	"strings"
	"testing"

	"warpboard/e2e/costtest"
)

// TestNoYAMLCostsMoreThanARequestMay parses costly texts of the size of the largest task.yml, and texts with the
// largest number of values that Parse accepts.
func TestNoYAMLCostsMoreThanARequestMay(t *testing.T) {
	for name, part := range map[string]string{
		"keys": "a,", "texts": `"",`, "lists": "[],", "objects": "{},", "pairs": "a: b,",
	} {
		for _, open := range []string{"{", "["} {
			for _, n := range []int{256 << 10 / len(part),
				39_000 / strings.Count(strings.ReplaceAll(part, "{", ","), ",")} {
				text := open + strings.Repeat(part, n) + map[string]string{"{": "}", "[": "]"}[open]
				costtest.Check(t, name+" in "+open, func() { _, _ = Parse([]byte(text)) })
			}
		}
	}
	for name, part := range map[string]string{
		"empty items": "-\n", "items": "- a\n", "keys in lines": "a:\n", "questions": "? a\n", "open lists": "[",
		"open objects": "{", "dashes": "- ",
		"colons": ":", "anchors": "&a ", "aliases": "*a ", "tags": "! ", "quotes": `'' `, "comments": "#\n",
		"documents": "---\n", "tight lists": "[],", "spaces": " \n",
	} {
		text := strings.Repeat(part, 256<<10/len(part))
		costtest.Check(t, "39,000 "+name, func() { _, _ = Parse([]byte(strings.Repeat(part, 39_000))) })
		costtest.Check(t, name, func() { _, _ = Parse([]byte(text)) })
	}
}
