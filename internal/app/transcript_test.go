package app

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheTranscriptNamesCommandsThatExist checks docs/transcript.md against the program: after changing a command, run
// scripts/transcript again.
func TestTheTranscriptNamesCommandsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/transcript.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(line, "$ "))
		if !strings.HasPrefix(line, "$ warpboard ") {
			continue
		}
		root := rootCommand(Environment{Getenv: func(string) string { return "" }, Stdout: io.Discard,
			Stderr: io.Discard})
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

var (
	commandLine = regexp.MustCompile(`(?m)^(?: {4}|\$ )?(?:[A-Z_]+=\S+ +)*(?:\./)?warpboard (.+)$`)
	inlineCode  = regexp.MustCompile("`(?:[A-Z_]+=\\S+ +)*(?:\\S+ \\| )?warpboard ([^`]+)`")
	comment     = regexp.MustCompile(`\s+#.*`)
)

// TestCommandsInTheDocumentsExist checks that each command line in README.md and docs/, in a block or a sentence, has
// an existing command and existing flags.
func TestCommandsInTheDocumentsExist(t *testing.T) {
	checked := 0
	for _, document := range documents(t) {
		if document == "CHANGELOG.md" {
			continue // its commands existed at the time of each release
		}
		text, err := os.ReadFile(filepath.Join("..", "..", document))
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []*regexp.Regexp{commandLine, inlineCode} {
			for _, found := range pattern.FindAllStringSubmatch(string(text), -1) {
				checked++
				if why := noCommand(strings.Fields(comment.ReplaceAllString(found[1], ""))); why != "" {
					t.Errorf("%s: warpboard %s: %s", document, found[1], why)
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("only %d commands were checked", checked)
	}
}

// noCommand returns the reason why a command line is invalid, or "".
func noCommand(words []string) string {
	root := rootCommand(Environment{Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: io.Discard})
	root.InitDefaultCompletionCmd(words...)
	if words[0] == "--help" {
		return ""
	}
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		return "there is no such command"
	}
	if err := cmd.ParseFlags(rest); err != nil && !slices.Contains(rest, "--help") {
		return err.Error()
	}
	return ""
}

func TestCommandsThatDoNotExistAreFound(t *testing.T) {
	for line, exists := range map[string]bool{
		"submit kernel.cu --mode ranked --watch": true,
		"sumbit kernel.cu":                       false,
		"board T D --jsn":                        false,
		"serve --nats-listen HOST:PORT":          true,
		"serve --nats-lisen HOST:PORT":           false,
		"work --database-url postgres://…":       false,
		"completion bash":                        true,
	} {
		if why := noCommand(strings.Fields(line)); (why == "") != exists {
			t.Errorf("%s: %q", line, why)
		}
	}
}
