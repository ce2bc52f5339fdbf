package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// retired lists words that no page, error, comment, or document uses; docs/style.md has the replacements.
func retired() []string {
	return []string{"nobody", "somebody", "everybody", "whoever", "anew", "meanwhile", "beforehand", "whereabouts",
		"mend", "mends",
		"at the least", "at the most", "tells whether", "our fault", "for ever", "an own", "the own"}
}

// quoting reports whether a file must quote such words, or has texts that other programs match.
func quoting(file string) bool {
	return slices.ContainsFunc([]string{"node_modules/", "static/", "tasks/examples/", "testdata/", "docs/style.md",
		"internal/app/words_test.go",
		"internal/statement/score.go", "evaluator/kernelrun/evaluation/program/stages.py",
		"models/modelstest/postgres.go", "_test.go", "_templ.go"},
		func(part string) bool { return strings.Contains(file, part) })
}

func TestRetiredWordsStayOutOfTextsAndComments(t *testing.T) {
	root := filepath.Join("..", "..")
	list, err := exec.Command("git", "-C", root, "ls-files", "*.go", "*.templ", "*.md", "*.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range strings.Fields(string(list)) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if quoting(file) || os.IsNotExist(err) {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			words := " " + strings.ToLower(strings.Map(letters, line)) + " "
			for _, word := range retired() {
				if strings.Contains(words, " "+word+" ") {
					t.Errorf("%s:%d: %q is retired: %s", file, i+1, word, strings.TrimSpace(line))
				}
			}
		}
	}
}

// letters returns the characters of words, and replaces all others by a space.
func letters(r rune) rune {
	if strings.ContainsRune("_-'", r) || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
		return r
	}
	return ' '
}
