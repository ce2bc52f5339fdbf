package tasks_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
	"warpboard/tasks"
	"warpboard/tasks/parse"
)

// FuzzTaskYAML checks that reading any task.yml terminates, and that a valid task is equal after it is written and
// read.
func FuzzTaskYAML(f *testing.F) {
	fuzztest.Moment(f)
	for _, seed := range []string{minimal, full, cpp("defines: {A: null, B: 1.0}"), "a: &a [*a]", "<<: {a: 1}",
		"? [a]\n: b", minimal + "tests: [{a: [x, 'y', 1.0e+9]}]", minimal + "tests: [{a: '1e3', b: \"'\"}]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, yaml string) {
		b, err := task(t, yaml)
		if err != nil {
			if len(parse.ProblemsFromError(err)) == 0 {
				t.Errorf("the error is not made of problems: %v", err)
			}
			return
		}
		copied := again(t, b)
		if diff := cmp.Diff(b.Definition, copied.Definition); diff != "" || b.ContentHash() != copied.ContentHash() {
			t.Errorf("read back (-original +read):\n%s", diff)
		}
	})
}

// FuzzFlags checks that no accepted flag contains a path, a response file (@), or a separator of flags.
func FuzzFlags(f *testing.F) {
	fuzztest.Moment(f)
	f.Add("-Xcompiler=-O3,-fopenmp", true)
	f.Add("-fplugin=x", false)
	f.Add("-l:evil.a", false)
	f.Fuzz(func(t *testing.T, flag string, cuda bool) {
		lang := tasks.LangCPP
		if cuda {
			lang = tasks.LangCUDA
		}
		got, err := tasks.CheckCompileFlags(lang, []string{flag})
		if err != nil || strings.HasPrefix(flag, "-D") || strings.HasPrefix(flag, "-U") {
			return
		}
		for _, part := range strings.Split(strings.Join(got, ","), ",") {
			if strings.ContainsAny(part, "/@ \n\x00") && !strings.Contains(flag, ",-D") &&
				!strings.Contains(flag, "=-D") &&
				!strings.Contains(flag, ",-U") && !strings.Contains(flag, "=-U") {
				t.Errorf("%q passed as %q", flag, got)
			}
			if strings.Contains(part, "plugin") && strings.HasPrefix(part, "-fplugin") {
				t.Errorf("%q passed", flag)
			}
		}
	})
}

// FuzzZip checks that reading any archive terminates, respects the limits of a task, and returns only Problems as
// errors.
func FuzzZip(f *testing.F) {
	fuzztest.Moment(f)
	f.Add(zipped(f, files{"task.yml": minimal, "reference.py": ""}))
	f.Add(zipped(f, files{"problems/s.yaml": basics, "problems/basics/a/task.yml": minimal}))
	f.Add(rawZip(f, entry{name: "../x", text: "y"}))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		bundles, err := readZip(data)
		if err != nil && len(parse.ProblemsFromError(err)) == 0 {
			t.Errorf("the error is not made of problems: %v", err)
		}
		for _, b := range bundles {
			if size(b) > tasks.MaxBundle {
				t.Errorf("a task of %d bytes was read", size(b))
			}
			if _, err := b.ProgramFiles(tasks.Submission{Source: []byte("x")}); err != nil {
				t.Errorf("a task that was read does not resolve: %v", err)
			}
		}
		upload, err := tasks.OpenFile("upload.zip", data)
		if err != nil {
			return
		}
		if _, err := upload.Proposals(now); err != nil && len(parse.ProblemsFromError(err)) == 0 {
			t.Errorf("the error is not made of problems: %v", err)
		}
	})
}

func FuzzExpression(f *testing.F) {
	fuzztest.Moment(f)
	for _, seed := range []string{"2 * n ** 2 / (n - 1)", "-(-n)", "((", "1e9**1e9", "0x10", "n n", "float32*n"} {
		f.Add(seed)
	}
	c := tasks.Case{{Name: "n", Value: "3"}}
	f.Fuzz(func(t *testing.T, text string) {
		bytes, _, err := tasks.Roofline{Bytes: text}.BytesAndFlops(c)
		if err == nil && !(bytes >= 0) {
			t.Errorf("%q is %v", text, bytes)
		}
	})
}

// size returns the total size of a task's files in bytes.
func size(b *tasks.Bundle) (n int) {
	for _, data := range b.Files {
		n += len(data)
	}
	return n
}
