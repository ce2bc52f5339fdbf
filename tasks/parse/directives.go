package parse

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Directives are settings of a submission in the first comment block of its source.
type Directives struct {
	Leaderboard string   // name of the task; empty if there is no such directive
	GPUs        []string // names of devices without duplicates, in order; nil if there is no such directive
}

// ParseDirectives reads the lines "#!POPCORN leaderboard NAME" and "#!POPCORN gpus A B" (or "gpu"), or with // instead
// of #, from the comment block at the start of source. The case of the keyword does not matter. The error is a Problem
// with the line.
func ParseDirectives(source []byte) (Directives, error) {
	var d Directives
	for number, words := range directiveLines(source) {
		if err := d.setDirective(words[1:]); err != nil {
			return Directives{}, Problem{Line: number, Key: words[0], Message: err.Error()}
		}
	}
	return d, nil
}

// MaxGPUs limits the devices of one submission.
const MaxGPUs = 64

const (
	pythonDirectivePrefix = "#!POPCORN"
	cppDirectivePrefix    = "//!POPCORN"
)

// DirectivePrefix returns the start of a directive in a file with this name: a comment in the language of the file.
func DirectivePrefix(file string) string {
	if path.Ext(file) == ".py" {
		return pythonDirectivePrefix
	}
	return cppDirectivePrefix
}

// CheckDirectives refuses directives that are not comments in the language of a file, because it would not compile. The
// error is a Problem.
func CheckDirectives(file string, source []byte) error {
	if path.Ext(file) == "" {
		return nil // without a suffix the language is unknown
	}
	for number, words := range directiveLines(source) {
		if want := DirectivePrefix(file); words[0] != want {
			return Problem{
				Line:    number,
				Key:     words[0],
				Message: fmt.Sprintf("is not a comment in a %s file: write %s", path.Ext(file), want),
			}
		}
	}
	return nil
}

// directiveLines iterates over the directives in the first comment block: the line number and the words of each.
func directiveLines(source []byte) func(func(int, []string) bool) {
	return func(yield func(int, []string) bool) {
		started := false
		for number, line := range numberedLines(strings.TrimPrefix(string(source), "\ufeff")) {
			blank := strings.TrimSpace(line) == ""
			if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") && (started || !blank) {
				return
			}
			started = started || !blank
			if words := strings.Fields(line); len(words) > 0 && (words[0] == pythonDirectivePrefix || words[0] == cppDirectivePrefix) && !yield(number, words) {
				return
			}
		}
	}
}

// numberedLines iterates over the lines of a text and their numbers, from 1.
func numberedLines(text string) func(func(int, string) bool) {
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

func (d *Directives) setDirective(words []string) error {
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
		if len(args) > MaxGPUs {
			return fmt.Errorf("%s takes at most %d names", keyword, MaxGPUs)
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
