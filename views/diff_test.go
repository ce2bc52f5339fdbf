package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiffKeepsBothTextsReadable(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"equal texts", "a\nb\n", "a\nb\n", ""},
		{"all new", "", "a\nb\n", "+a +b"},
		{"all gone", "a\nb", "", "-a -b"},
		{"one line changed", "a\nb\nc\n", "a\nx\nc\n", " a -b +x  c"},
		{"moved line", "a\nb\nc", "b\nc\na", "-a  b  c +a"},
		{"far lines are left out", "1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9", " 2  3  4 -5 +x  6  7  8"},
		{"two places", "a\n1\n2\n3\n4\n5\n6\n7\nb", "A\n1\n2\n3\n4\n5\n6\n7\nB", "-a +A  1  2  3 ~  5  6  7 -b +B"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, line := range DiffLines(test.before, test.after) {
				got = append(got, string(line.Mark)+line.Text)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("diff (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDiffHoldsBothTexts(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "x\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		var old, now []string
		for _, line := range overlay(splitLines(before), splitLines(after)) {
			if line.Mark != '+' {
				old = append(old, line.Text)
			}
			if line.Mark != '-' {
				now = append(now, line.Text)
			}
		}
		if !cmp.Equal(old, splitLines(before)) || !cmp.Equal(now, splitLines(after)) {
			t.Errorf("%q and %q became %q and %q", before, after, old, now)
		}
	})
}
