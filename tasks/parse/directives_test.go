package parse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
	"warpboard/tasks/parse"
)

func TestParseDirectivesOfTheFirstCommentBlockAreRead(t *testing.T) {
	cases := map[string]struct {
		source string
		want   parse.Directives
	}{
		"python": {"#!POPCORN leaderboard add\n#!POPCORN gpus A100 T4\nimport torch",
			parse.Directives{Leaderboard: "add", GPUs: []string{"A100", "T4"}}},
		"C++": {"//!POPCORN leaderboard add\n//!POPCORN gpu L4\n#include <x>",
			parse.Directives{Leaderboard: "add", GPUs: []string{"L4"}}},
		"each once": {"#!POPCORN gpus T4 L4 T4", parse.Directives{GPUs: []string{"T4", "L4"}}},
		"any case": {"#!POPCORN LeaderBoard add\n#!POPCORN GPUS T4",
			parse.Directives{Leaderboard: "add", GPUs: []string{"T4"}}},
		"other comments": {"#!/usr/bin/env python3\n# hello\n#!POPCORN leaderboard add\r\n",
			parse.Directives{Leaderboard: "add"}},
		"blank first":     {"\ufeff\n  \n#!POPCORN leaderboard add", parse.Directives{Leaderboard: "add"}},
		"after the block": {"# a\n\n#!POPCORN leaderboard add", parse.Directives{}},
		"after code":      {"x = 1\n#!POPCORN leaderboard add", parse.Directives{}},
		"indented":        {"  #!POPCORN leaderboard add", parse.Directives{}},
		"only a word":     {"#!POPCORNS leaderboard add", parse.Directives{}},
		"empty":           {"", parse.Directives{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse.ParseDirectives([]byte(c.source))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("directives (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADirectiveIsACommentOfItsLanguage(t *testing.T) {
	for file, c := range map[string]struct{ source, want string }{
		"a.cpp": {"// hello\n#!POPCORN leaderboard add",
			"Line 2: #!POPCORN: is not a comment in a .cpp file: write //!POPCORN"},
		"a.cu": {"//!POPCORN leaderboard add\n", ""},
		"a.py": {"//!POPCORN leaderboard add", "write #!POPCORN"},
		"b.py": {"#!POPCORN leaderboard add", ""},
		"":     {"#!POPCORN leaderboard add", ""},
	} {
		if err := parse.CheckDirectives(file, []byte(c.source)); (err == nil) != (c.want == "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", file, err, c.want)
		}
	}
}

func TestBadDirectiveIsRefusedByLine(t *testing.T) {
	cases := map[string]struct{ source, want string }{
		"nothing":   {"# a\n#!POPCORN\n", "Line 2: #!POPCORN: is empty"},
		"no name":   {"#!POPCORN leaderboard\n", "Line 1: #!POPCORN: leaderboard takes one name, not 0"},
		"two names": {"//!POPCORN leaderboard a b\n", "leaderboard takes one name, not 2"},
		"no gpu":    {"#!POPCORN gpus\n", "gpus takes at least one name"},
		"unknown":   {"#!POPCORN speed 3\n", `the directive "speed" is not known`},
		"leaderboard twice": {"#!POPCORN leaderboard a\n#!POPCORN leaderboard a\n",
			"Line 2: #!POPCORN: leaderboard appears twice"},
		"gpus twice": {"#!POPCORN gpu a\n#!POPCORN gpus b\n", "gpus appears twice"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse.ParseDirectives([]byte(c.source))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
}

func FuzzDirectives(f *testing.F) {
	fuzztest.Moment(f)
	f.Add([]byte("#!POPCORN leaderboard add\n//!POPCORN gpus A B\n"))
	f.Add([]byte("\ufeff# x\r\n#!POPCORN"))
	f.Fuzz(func(t *testing.T, source []byte) {
		d, err := parse.ParseDirectives(source)
		if err != nil {
			if p := parse.ProblemsFromError(err); len(p) != 1 || p[0].Line == 0 {
				t.Errorf("the error has no line: %v", err)
			}
			return
		}
		if strings.ContainsAny(d.Leaderboard+strings.Join(d.GPUs, ""), " \n\t") {
			t.Errorf("names hold blanks: %+v", d)
		}
	})
}
