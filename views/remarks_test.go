package views

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/costtest"
	"warpboard/e2e/fuzztest"
)

func TestParseRemarksOfCompilersFindsTheirLines(t *testing.T) {
	of := SourceNames{MainFileNames: []string{"submission.cu", "submission.cpp", "submission.py"},
		IsAdditionalFile: func(name string) bool { return name == "tile.h" || name == "help.py" }}
	for name, c := range map[string]struct {
		output string
		want   []Remark
	}{
		"nvcc": {"submission.cu(7): warning #177-D: variable \"x\" was declared but never referenced\n      int x;\n          ^\n\n" +
			"Remark: The warnings can be suppressed\nsubmission.cu(3): error: expected a \";\"\n  int y\n1 error detected in the compilation of \"submission.cu\".\n",
			[]Remark{{3, true, `expected a ";"`, ""},
				{7, false, `variable "x" was declared but never referenced`, ""}}},
		"g++": {"In file included from eval.cpp:3:\nsubmission.cpp: In function 'int f()':\nsubmission.cpp:12:5: error: 'g' was not declared\n" +
			"task.h:3:1: error: not the submission's\nsubmission.cpp:2:10: fatal error: nothing.h: No such file or directory\nsubmission.cpp:9: warning: late\n",
			[]Remark{{2, true, "nothing.h: No such file or directory", ""}, {9, false, "late", ""},
				{12, true, "'g' was not declared", ""}}},
		"Python": {"Traceback (most recent call last):\n  File \"/out/eval.py\", line 80, in <module>\n  File \"/out/submission.py\", line 4, in custom_kernel\n    x = y\nNameError: name 'y' is not defined\n",
			[]Remark{{4, true, "NameError: name 'y' is not defined", ""}}},
		"syntax": {"  File \"submission.cu\", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax\n",
			[]Remark{{3, true, "SyntaxError: invalid syntax", ""}}},
		"twice":   {"submission.cu(3): error: a\nsubmission.cu(3): error: a\n", []Remark{{3, true, "a", ""}}},
		"no line": {"submission.cu(0): error: a\nsubmission.cu(99999999999999999999): error: a\nld: undefined reference to `f'\n", nil},
		"nothing": {"", nil},
		"a further file": {"In file included from submission.cpp:1:\ntile.h:3:12: error: a\nsubmission.cpp:9:1: error: b\nutils.h:1: error: c\n",
			[]Remark{{9, true, "b", ""}, {3, true, "a", "tile.h"}}},
		"a further module": {"  File \"/out/submission.py\", line 4, in custom_kernel\n  File \"/out/help.py\", line 2, in f\nValueError: x\n",
			[]Remark{{2, true, "ValueError: x", "help.py"}}},
	} {
		if diff := cmp.Diff(c.want, ParseRemarks(c.output, of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzRemarks(f *testing.F) {
	fuzztest.Moment(f)
	f.Add("a.cu(1): error: x\na.cu:2:3: warning: y\n  File \"a.cu\", line 3\nError: z\n")
	f.Fuzz(func(t *testing.T, output string) {
		last := 0
		for _, r := range ParseRemarks(output, SourceNames{MainFileNames: []string{"a.cu"}}) {
			if r.Line < max(last, 1) || r.Text != strings.TrimSpace(r.Text) {
				t.Errorf("remark %+v after line %d", r, last)
			}
			last = r.Line
		}
	})
}

func TestManyRemarksCostNoMoreThanARequestMay(t *testing.T) {
	file := NewHighlighter(1, MaxHighlightedBytes).NewSourceLimiter().ColorFile("a.cu", "",
		[]byte(strings.Repeat("1 1 1 1 1 1\n", maxNumberedLines-1)))
	for line := range maxRemarks {
		file.Remarks = append(file.Remarks, Remark{maxNumberedLines - line, true, "x", ""},
			Remark{maxNumberedLines + line, true, "x", ""})
	}
	costtest.Check(t, "remarks", func() {
		if err := file.annotatedText().Render(t.Context(), io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRemarksStandBelowTheirLinesAndAreText(t *testing.T) {
	file := NewHighlighter(1, MaxHighlightedBytes).NewSourceLimiter().ColorFile("submission.cu", "",
		[]byte("int a;\nint b;\nint c;\n"))
	file.Remarks = []Remark{{2, true, "<script>alert(1)</script>", ""}, {2, true, "also", ""}, {3, false, "last", ""},
		{77, true, "no such line", ""}}
	var out strings.Builder
	if err := file.annotatedText().Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	html := out.String()
	var order []int
	for _, part := range []string{`id="L2"`, "&lt;script&gt;", "also", `id="L3"`, "last"} {
		order = append(order, strings.Index(html, part))
	}
	if !slices.IsSorted(order) || order[0] < 0 || strings.Contains(html, "<script>") ||
		strings.Contains(html, "no such line") {
		t.Errorf("order %d in\n%s", order, html)
	}
}
