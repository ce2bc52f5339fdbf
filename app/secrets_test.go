package app

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// said runs a command with secrets in its environment and returns all that it printed.
func said(t *testing.T, args ...string) (string, error) {
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
	for _, c := range commands() {
		if c.name == "version" {
			continue
		}
		for _, flags := range [][]string{{"--help"}, {"-h"}, {"--mistyped"}, {"--token"}, {"--server"}} {
			printed, err := said(t, append([]string{c.name}, flags...)...)
			if err == nil || strings.Contains(printed, "hidden") {
				t.Errorf("%s %v ended with %v and printed\n%s", c.name, flags, err, printed)
			}
		}
	}
	if printed, _ := said(t, "submit"); strings.Contains(printed, "hidden") {
		t.Errorf("submit without a file printed\n%s", printed)
	}
}

func TestTheEnvironmentNamesTheSiteAndTheTokenWhereNoFlagDoes(t *testing.T) {
	environ := map[string]string{"WARPBOARD_SERVER": "http://env", "WARPBOARD_TOKEN": "env"}
	for name, test := range map[string]struct {
		args []string
		env  map[string]string
		want siteOptions
	}{
		"environment":         {nil, environ, siteOptions{"http://env", "env"}},
		"flags":               {[]string{"--server", "http://flag", "--token", "flag"}, environ, siteOptions{"http://flag", "flag"}},
		"no token on purpose": {[]string{"--token", ""}, environ, siteOptions{"http://env", ""}},
		"neither":             {nil, nil, siteOptions{defaultServer, ""}},
	} {
		var o submitOptions
		env := Environment{Getenv: func(name string) string { return test.env[name] }, Stderr: &bytes.Buffer{}}
		fs := o.flags(env)
		if err := fs.Parse(test.args); err != nil {
			t.Fatal(err)
		}
		if o.client(fs, env); o.siteOptions != test.want {
			t.Errorf("%s: %+v, want %+v", name, o.siteOptions, test.want)
		}
	}
}

func TestTheVersionIsPrintedHoweverItIsAskedFor(t *testing.T) {
	for _, arg := range []string{"version", "--version", "-version"} {
		if printed, err := said(t, arg); err != nil || !regexp.MustCompile("^warpboard "+regexp.QuoteMeta(version())+"\nharness [0-9a-f]{12}\n$").MatchString(printed) {
			t.Errorf("%s: %q, %v", arg, printed, err)
		}
	}
}
