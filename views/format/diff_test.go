package format

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/costtest"
	"warpboard/e2e/fuzztest"
)

func TestDiffLines(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"equal texts", "a\nb\n", "a\nb\n", ""},
		{"equal but for line ends", "a\r\nb", "a\nb\n", ""},
		{"all new", "", "a\nb\n", "+a +b"},
		{"all gone", "a\nb", "", "-a -b"},
		{"one line changed", "a\nb\nc\n", "a\nx\nc\n", " a -b +x  c"},
		{"moved line", "a\nb\nc", "b\nc\na", "-a  b  c +a"},
		{"far lines are folded", "1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9",
			"~1  2  3  4 -5 +x  6  7  8 ~1"},
		{"two places", "a\n1\n2\n3\n4\n5\n6\n7\nb", "A\n1\n2\n3\n4\n5\n6\n7\nB", "-a +A  1  2  3 ~1  5  6  7 -b +B"},
		{"what looks like a diff", "@@ -1,2 +3,4 @@\n--- x", "@@ -1,2 +3,4 @@\n+++ y",
			" @@ -1,2 +3,4 @@ ---- x ++++ y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, line := range Diff(test.before, test.after) {
				text := string(line.Kind) + line.Text
				if line.Kind == DiffLineFolded {
					text += fmt.Sprint(line.HiddenLines)
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
	want := []DiffLine{
		{Kind: DiffLineAdded, NewNumber: 1, Text: "0"},
		{Kind: DiffLineSame, OldNumber: 1, NewNumber: 2, Text: "1"},
		{Kind: DiffLineSame, OldNumber: 2, NewNumber: 3, Text: "2"},
		{Kind: DiffLineSame, OldNumber: 3, NewNumber: 4, Text: "3"},
		{Kind: DiffLineFolded, OldNumber: 4, NewNumber: 5, HiddenLines: 5},
		{Kind: DiffLineSame, OldNumber: 9, NewNumber: 10, Text: "9"},
		{Kind: DiffLineSame, OldNumber: 10, NewNumber: 11, Text: "10"},
		{Kind: DiffLineSame, OldNumber: 11, NewNumber: 12, Text: "11"},
		{Kind: DiffLineRemoved, OldNumber: 12, Text: "12"}, {Kind: DiffLineAdded, NewNumber: 13, Text: "twelve"},
		{Kind: DiffLineSame, OldNumber: 13, NewNumber: 14, Text: "13"},
		{Kind: DiffLineSame, OldNumber: 14, NewNumber: 15, Text: "14"},
		{Kind: DiffLineSame, OldNumber: 15, NewNumber: 16, Text: "15"},
		{Kind: DiffLineFolded, OldNumber: 16, NewNumber: 17, HiddenLines: 5},
	}
	if diff := cmp.Diff(want, Diff(before.String(), after)); diff != "" {
		t.Error(diff)
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
		for _, line := range Diff(before, after) {
			switch line.Kind {
			case DiffLineFolded:
				nowA = append(nowA, a[line.OldNumber-1:line.OldNumber-1+line.HiddenLines]...)
				nowB = append(nowB, b[line.NewNumber-1:line.NewNumber-1+line.HiddenLines]...)
				continue
			case DiffLineSame:
				nowA, nowB = append(nowA, line.Text), append(nowB, line.Text)
			case DiffLineRemoved:
				nowA = append(nowA, line.Text)
			case DiffLineAdded:
				nowB = append(nowB, line.Text)
			}
			if line.OldNumber > 0 && line.OldNumber != len(nowA) || line.NewNumber > 0 && line.NewNumber != len(nowB) {
				t.Fatalf("the numbers of %+v are not those of lines %d and %d", line, len(nowA), len(nowB))
			}
		}
		if normalizeLineEnds(before) == normalizeLineEnds(after) {
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
	if text = normalizeLineEnds(text); text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func TestNoComparisonCostsMoreThanARequestMay(t *testing.T) {
	const size = 1 << 20
	numbered := func(lines, step int) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "%d%s\n", i*step, strings.Repeat("x", size/lines-8))
		}
		return b.String()
	}
	for name, texts := range map[string][2]string{
		"a million lines":         {strings.Repeat("a\n", size/2), strings.Repeat("b\n", size/2)},
		"one line":                {strings.Repeat("a", size), strings.Repeat("b", size)},
		"10,000 other lines each": {numbered(9_999, 2), numbered(9_999, 3)},
		"10,000 lines that repeat": {strings.Repeat(strings.Repeat("a", 100)+"\n", 9_999),
			strings.Repeat(strings.Repeat("b", 100)+"\n"+strings.Repeat("a", 100)+"\n", 5_000)},
		"10,000 lines, backward":       {numbered(9_999, 1), numbered(9_999, -1)},
		"20,000 empty lines and none":  {strings.Repeat("\n", 20_000), ""},
		"a million lines that are one": {strings.Repeat("\r\n", size/2), "x"},
	} {
		for _, files := range []int{1, 50} {
			part := func(text string, i int) string { return text[len(text)*i/files : len(text)*(i+1)/files] }
			costtest.Check(t, fmt.Sprintf("%s, in %d files", name, files), func() {
				var all TextComparer
				shown := 0
				for i := range files {
					shown += len(all.Diff(part(texts[0], i), part(texts[1], i)))
				}
				if shown == 0 || shown > maxShownLines+files {
					t.Errorf("%s: %d lines are shown", name, shown)
				}
			})
			costtest.Check(t, fmt.Sprintf("%s, unified, in %d files", name, files), func() {
				var all TextComparer
				for i := range files {
					all.Unified("a", part(texts[0], i), "b", part(texts[1], i))
				}
			})
		}
	}
}

func TestTheDiffNamesWhatItDoesNotCompare(t *testing.T) {
	long := strings.Repeat("a\n", maxComparedLines)
	for name, test := range map[string]struct {
		got  []DiffLine
		want string
	}{
		"too long": {Diff(long, long+"b\n"),
			"They differ, and are too long to be compared: 20000 and 20001 lines"},
		"too many changes": {Diff("", strings.Repeat("a\n", maxShownLines+7)),
			"7 more lines of the comparison are not shown"},
	} {
		if last := test.got[len(test.got)-1]; last.Kind != DiffLineOmitted || last.Text != test.want {
			t.Errorf("%s: %+v, want %q", name, last, test.want)
		}
	}
	if lines := Diff(long, long); lines != nil {
		t.Errorf("equal texts have %d lines", len(lines))
	}
}
