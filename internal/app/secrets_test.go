package app

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// failingOutput runs a command with secrets in its environment and returns its whole output.
func failingOutput(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	env := Environment{Stdout: &out, Stderr: &out, Getenv: func(name string) string {
		if strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_SECRET") || name == "WARPBOARD_SERVER" {
			return "http://me:hidden@127.0.0.1:1"
		}
		return ""
	}}
	err := Run(t.Context(), env, args)
	if err != nil {
		out.WriteString(err.Error())
	}
	return out.String(), err
}

func TestNoHelpAndNoMistakePrintsASecretOfTheEnvironment(t *testing.T) {
	for _, c := range rootCommand(Environment{Getenv: noEnvironment}).Commands() {
		if c.Name() == "version" {
			continue
		}
		for _, flags := range [][]string{{"--help"}, {"-h"}, {"--mistyped"}, {"--token"}, {"--server"}} {
			printed, err := failingOutput(t, append([]string{c.Name()}, flags...)...)
			if strings.Contains(printed, "hidden") || err == nil && !strings.HasSuffix(flags[0], "h") &&
				flags[0] != "--help" {
				t.Errorf("%s %v ended with %v and printed\n%s", c.Name(), flags, err, printed)
			}
		}
	}
	for _, line := range [][]string{{"tasks"}, {"runs", "--json"}, {"login"},
		{"tasks", "--server", "me:hidden@nowhere"}, {"login", "me:hidden@nowhere"}} {
		if printed, err := failingOutput(t, line...); err == nil || strings.Contains(printed, "hidden") {
			t.Errorf("%q printed\n%s", line, printed)
		}
	}
	if printed, _ := failingOutput(t, "submit"); strings.Contains(printed, "hidden") {
		t.Errorf("submit without a file printed\n%s", printed)
	}
}

func TestTheVersionIsPrintedHoweverItIsAskedFor(t *testing.T) {
	for _, arg := range []string{"version", "--version", "-version"} {
		if printed, err := failingOutput(t, arg); err != nil ||
			!regexp.MustCompile("^warpboard "+regexp.QuoteMeta(programVersion())+
				"\nharness [0-9a-f]{12}\n$").MatchString(printed) {
			t.Errorf("%s: %q, %v", arg, printed, err)
		}
	}
}

func TestTheVersionIsPrintedAsJSON(t *testing.T) {
	for _, line := range [][]string{{"version", "--json"}, {"--version", "--json"}} {
		printed, err := failingOutput(t, line...)
		var read struct{ Version, Harness string }
		if wrong := json.Unmarshal([]byte(printed), &read); wrong != nil || err != nil || read.Version != programVersion() ||
			len(read.Harness) != 12 {
			t.Errorf("%v: %q, %v", line, printed, err)
		}
	}
	if _, err := failingOutput(t, "version", "--jsonn"); err == nil {
		t.Error("an unknown flag of version is taken")
	}
}
