package tasks_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

const legacyNative = "using input_t = int; using output_t = int;\ninput_t generate_input(); output_t ref_kernel(input_t); bool check_implementation(output_t, output_t);\n"
const legacyPython = "def generate_input(): ...\ndef ref_kernel(x): ...\ndef check_implementation(a, b): ...\n"

func TestReferenceFileMakesATaskOfTheOlderForm(t *testing.T) {
	cases := map[string]struct {
		text       string
		lang       tasks.Lang
		reference  string
		submission string
	}{
		"add.cu":  {legacyNative, tasks.LangCUDA, "reference.cuh", "train.cuh"},
		"add.cuh": {legacyNative, tasks.LangCUDA, "reference.cuh", "train.cuh"},
		"add.cpp": {legacyNative, tasks.LangCPP, "reference.cuh", "train.cuh"},
		"add.py":  {legacyPython, tasks.LangPython, "reference.py", "train.py"},
	}
	for file, c := range cases {
		t.Run(file, func(t *testing.T) {
			b, err := tasks.TaskFromReference(file, []byte(c.text), []string{"T4"})
			if err != nil {
				t.Fatal(err)
			}
			def := b.Definition
			if b.Name != "add" || def.Protocol != tasks.ProtocolLegacy || def.Lang != c.lang || def.GPUs[0] != "T4" {
				t.Errorf("the task is %q: %+v", b.Name, def)
			}
			if warned := strings.Contains(strings.Join(b.Warnings, " "),
				"upload it as .cu"); warned != (c.lang == tasks.LangCPP) {
				t.Errorf("the warnings are %q", b.Warnings)
			}
			sources, err := b.ProgramFiles(tasks.Submission{Source: []byte("mine")})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for name, text := range sources {
				got[name] = string(text)
			}
			if diff := cmp.Diff(map[string]string{c.reference: c.text, c.submission: "mine"}, got); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadReferenceFileIsRefused(t *testing.T) {
	cases := map[string]struct{ file, text, want string }{
		"suffix":    {"a.rs", "x", "a.rs: a reference file ends in .cu, .cuh, .cpp or .py"},
		"path":      {"../a.py", legacyPython, "points outside"},
		"not UTF-8": {"a.py", "\xff", "a.py: is not UTF-8 text"},
		"too large": {"a.py", strings.Repeat("#", 1_000_001), "a.py: is larger than 1000000 bytes"},
		"no function": {"a.py", strings.ReplaceAll(legacyPython, "ref_kernel", "reference"),
			"a.py: ref_kernel: is not defined"},
		"no type": {"a.cu", legacyPython, "a.cu: input_t: is not defined"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tasks.TaskFromReference(c.file, []byte(c.text), nil)
			wantError(t, err, c.want)
		})
	}
}

func TestOlderFormDownloadsAsItsReference(t *testing.T) {
	b, err := tasks.TaskFromReference("add.py", []byte(legacyPython), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := tasks.WriteZip(&out, b); err != nil {
		t.Fatal(err)
	}
	if _, err := readZip(out.Bytes()); err == nil || !strings.Contains(err.Error(), "no task.yml") {
		t.Errorf("the zip of a task in the legacy format has a task.yml: %v", err)
	}
}
