package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
)

func TestDiffKeepsBothTextsReadable(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"equal texts", "a\nb\n", "a\nb\n", ""},
		{"equal but for line ends", "a\r\nb", "a\nb\n", ""},
		{"all new", "", "a\nb\n", "+a +b"},
		{"all gone", "a\nb", "", "-a -b"},
		{"one line changed", "a\nb\nc\n", "a\nx\nc\n", " a -b +x  c"},
		{"moved line", "a\nb\nc", "b\nc\na", "-a  b  c +a"},
		{"far lines are folded", "1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9", "~1  2  3  4 -5 +x  6  7  8 ~1"},
		{"two places", "a\n1\n2\n3\n4\n5\n6\n7\nb", "A\n1\n2\n3\n4\n5\n6\n7\nB", "-a +A  1  2  3 ~1  5  6  7 -b +B"},
		{"what looks like a diff", "@@ -1,2 +3,4 @@\n--- x", "@@ -1,2 +3,4 @@\n+++ y", " @@ -1,2 +3,4 @@ ---- x ++++ y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, line := range Lines(test.before, test.after) {
				text := string(line.Kind) + line.Text
				if line.Kind == Folded {
					text += fmt.Sprint(line.Hidden)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("diff (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFoldedRunsKeepTheNumbersRight(t *testing.T) {
	var before strings.Builder
	for i := range 20 {
		fmt.Fprintln(&before, i+1)
	}
	after := "0\n" + strings.Replace(before.String(), "12\n", "twelve\n", 1)
	want := []Line{
		{Kind: Added, B: 1, Text: "0"},
		{Kind: Same, A: 1, B: 2, Text: "1"}, {Kind: Same, A: 2, B: 3, Text: "2"}, {Kind: Same, A: 3, B: 4, Text: "3"},
		{Kind: Folded, A: 4, B: 5, Hidden: 5},
		{Kind: Same, A: 9, B: 10, Text: "9"}, {Kind: Same, A: 10, B: 11, Text: "10"}, {Kind: Same, A: 11, B: 12, Text: "11"},
		{Kind: Removed, A: 12, Text: "12"}, {Kind: Added, B: 13, Text: "twelve"},
		{Kind: Same, A: 13, B: 14, Text: "13"}, {Kind: Same, A: 14, B: 15, Text: "14"}, {Kind: Same, A: 15, B: 16, Text: "15"},
		{Kind: Folded, A: 16, B: 17, Hidden: 5},
	}
	if diff := cmp.Diff(want, Lines(before.String(), after)); diff != "" {
		t.Error(diff)
	}
}

func TestDiffOfStrangersStaysCheap(t *testing.T) {
	var a, b strings.Builder
	for i := range 50000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	if got := Lines(a.String(), b.String()); len(got) != 100000 {
		t.Errorf("%d lines", len(got))
	}
}

func FuzzDiffHoldsBothTexts(f *testing.F) {
	fuzztest.Moment(f)
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "x\n")
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9\n10", "1\n2\n3\n4\n5\n6\n7\n8\n9\nten")
	f.Fuzz(func(t *testing.T, before, after string) {
		a, b := split(before), split(after)
		var nowA, nowB []string
		for _, line := range Lines(before, after) {
			switch line.Kind {
			case Folded:
				nowA = append(nowA, a[line.A-1:line.A-1+line.Hidden]...)
				nowB = append(nowB, b[line.B-1:line.B-1+line.Hidden]...)
				continue
			case Same:
				nowA, nowB = append(nowA, line.Text), append(nowB, line.Text)
			case Removed:
				nowA = append(nowA, line.Text)
			case Added:
				nowB = append(nowB, line.Text)
			}
			if line.A > 0 && line.A != len(nowA) || line.B > 0 && line.B != len(nowB) {
				t.Fatalf("the numbers of %+v are not those of lines %d and %d", line, len(nowA), len(nowB))
			}
		}
		if normal(before) == normal(after) {
			if nowA != nil || nowB != nil {
				t.Fatal("equal texts differ")
			}
			return
		}
		if !cmp.Equal(nowA, a) || !cmp.Equal(nowB, b) {
			t.Errorf("%q and %q became %q and %q", before, after, nowA, nowB)
		}
	})
}

func split(text string) []string {
	if text = normal(text); text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
