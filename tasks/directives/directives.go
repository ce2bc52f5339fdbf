package directives

import (
	"fmt"
	"slices"
	"strings"

	"warpboard/tasks/problems"
)

// Directives are what a submission says about itself in its first comment block.
type Directives struct {
	Leaderboard string   // empty if not said
	GPUs        []string // each once, in the order given; nil if not said
}

// Parse reads the lines "#!POPCORN leaderboard NAME", "#!POPCORN gpus A B" (or "gpu")
// and their // forms from the comment block that starts source. The keyword's case does not
// matter. Its error is a problems.Problem with the line.
func Parse(source []byte) (Directives, error) {
	var d Directives
	started := false
	text := strings.TrimPrefix(string(source), "\ufeff")
	for number, line := range numbered(text) {
		blank := strings.TrimSpace(line) == ""
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") && (started || !blank) {
			break
		}
		started = started || !blank
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "#!POPCORN" && words[0] != "//!POPCORN" {
			continue
		}
		if err := d.set(words[1:]); err != nil {
			return Directives{}, problems.Problem{Line: number, Key: words[0], Message: err.Error()}
		}
	}
	return d, nil
}

// numbered walks the lines of text, counted from 1.
func numbered(text string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			if !yield(number, line) {
				return
			}
		}
	}
}

func (d *Directives) set(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("is empty; write leaderboard NAME or gpus NAME …")
	}
	keyword, args := strings.ToLower(words[0]), words[1:]
	switch keyword {
	case "leaderboard":
		if len(args) != 1 {
			return fmt.Errorf("leaderboard takes one name, not %d", len(args))
		}
		if d.Leaderboard != "" {
			return fmt.Errorf("leaderboard appears twice")
		}
		d.Leaderboard = args[0]
	case "gpu", "gpus":
		if len(args) == 0 {
			return fmt.Errorf("%s takes at least one name", keyword)
		}
		if d.GPUs != nil {
			return fmt.Errorf("gpus appears twice")
		}
		for _, name := range args {
			if !slices.Contains(d.GPUs, name) {
				d.GPUs = append(d.GPUs, name)
			}
		}
	default:
		return fmt.Errorf("the directive %q is not known; known are leaderboard, gpu and gpus", words[0])
	}
	return nil
}
