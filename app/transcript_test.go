package app

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTheTranscriptNamesCommandsThatExist holds docs/transcript.md to the program: who changes a command runs
// scripts/transcript again.
func TestTheTranscriptNamesCommandsThatExist(t *testing.T) {
	text, err := os.ReadFile("../docs/transcript.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(line, "$ "))
		if !strings.HasPrefix(line, "$ warpboard ") {
			continue
		}
		root := rootCommand(Environment{Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: io.Discard})
		cmd, rest, err := root.Find(words[1:])
		if err != nil || cmd == root {
			t.Errorf("%q: there is no such command: %v", line, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", line, err)
		} else if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(cmd.CommandPath(), "warpboard "), " ")
		shown = append(shown, name)
	}
	at := -1
	for _, step := range []string{"login", "submit", "watch", "board", "profile", "compare", "evaluate", "ci"} {
		next := slices.Index(shown[at+1:], step)
		if next < 0 {
			t.Fatalf("%s does not follow in %q", step, shown)
		}
		at += next + 1
	}
}
