package tasks_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"warpboard/tasks"
	"warpboard/tasks/parse"
)

// files are the contents of a zip by name.
type files map[string]string

// zipped returns a zip with files in random order.
func zipped(t testing.TB, content files) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range content {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readZip(data []byte) ([]*tasks.Bundle, error) {
	upload, err := tasks.OpenFile("upload.zip", data)
	if err != nil {
		return nil, err
	}
	return upload.Bundles()
}

// minimal is a task.yml with only the required keys.
const minimal = `lang: py
description: Add.
files:
  - {name: reference.py, source: reference.py}
  - {name: submission.py, source: "@SUBMISSION@"}
`

// task reads a task.yml from a folder that also has other files, which the task.yml may name.
func task(t testing.TB, yaml string) (*tasks.Bundle, error) {
	t.Helper()
	bundles, err := readZip(zipped(t, files{
		"task.yml": yaml, "reference.py": "def generate_input(): pass\ndef check_implementation(data, output): pass\n",
		"eval.py": "print()", "task.h": "", "reference.h": "", "reference.cuh": "", "eval.cu": "", "template.py": "",
	}))
	if err != nil {
		return nil, err
	}
	return bundles[0], nil
}

func mustTask(t testing.TB, yaml string) *tasks.Bundle {
	t.Helper()
	b, err := task(t, yaml)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantError fails the test unless err consists of Problems and its text contains want.
func wantError(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	if len(parse.ProblemsFromError(err)) == 0 {
		t.Errorf("the error %v is not made of problems", err)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("the error is\n%v\nwant it to hold\n%s", err, want)
	}
}
