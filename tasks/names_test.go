package tasks_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

func TestMistypedKeysFindTheOneThatWasMeant(t *testing.T) {
	known := []string{"benchmarks", "tests", "timeout_seconds", "gpus", "io", "low", "x"}
	for name, want := range map[string]string{
		"benchmark": "benchmarks", "bechnmarks": "benchmarks", "TESTS": "tests", "test_timeout": "",
		"timeout":        "timeout_seconds",
		"timeoutSeconds": "timeout_seconds", "gpu": "gpus", "xyz": "", "": "", "gp": "gpus",
		"seconds": "timeout_seconds",
		"oi":      "", "foo": "", "www": "", "w": "", "lwo": "", "gsup": "gpus",
	} {
		if got := tasks.NearestName(name, known); got != want {
			t.Errorf("%q was meant to be %q, want %q", name, got, want)
		}
	}
}

func TestNamesOfLibrariesAndDefinesHoldNothingElse(t *testing.T) {
	for name, want := range map[string][2]bool{
		"cublas": {true, true}, "nccl_static": {true, true}, "stdc++": {true, false}, "A1": {true, true},
		"": {false, false}, "a b": {false, false}, "x=1": {false, false}, "-pthread": {false, false},
		"a/../b": {false, false}, ":file.a": {false, false},
	} {
		if got := [2]bool{tasks.IsLibraryName(name), tasks.IsIdentifier(name)}; got != want {
			t.Errorf("%q: library and identifier are %v, want %v", name, got, want)
		}
	}
}

func TestInvalidFileNamesAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"":                             "has an empty name",
		"a\x00b":                       "has a control character in its name",
		"a\u202eb":                     "has a control character in its name",
		`a\b`:                          "has a backslash in its name",
		"/etc/passwd":                  "has an absolute path",
		"C:evil":                       "has an absolute path",
		"a/../../b":                    "points outside the archive",
		"a//b":                         "has an empty or . part",
		"./a":                          "has an empty or . part",
		"-o":                           "starts with -",
		strings.Repeat("a", 241):       "longer than 240 bytes",
		strings.Repeat("a/", 12) + "b": "lies deeper than 12 folders",
	} {
		_, err := readZip(zipped(t, files{"task.yml": minimal, "reference.py": "", name: "x"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gave %v, want an error with %q", name, err, want)
		}
	}
}

func TestOpenPathOpensFilesFoldersAndZips(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "add", "task.yml"), minimal)
	write(t, filepath.Join(dir, "add", "reference.py"), "")
	write(t, filepath.Join(dir, "add.zip"), string(zipped(t, files{"task.yml": minimal, "reference.py": ""})))
	for _, path := range []string{"add", "add/task.yml", "add.zip", "."} {
		upload, err := tasks.OpenPath(filepath.Join(dir, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		bundles, err := upload.Bundles()
		if err != nil || len(bundles) != 1 || bundles[0].Name != "add" {
			t.Errorf("%s holds %d tasks: %v", path, len(bundles), err)
		}
		if err := upload.Close(); err != nil {
			t.Error(err)
		}
	}
	write(t, filepath.Join(dir, "set.yaml"), "problems: []\n")
	if _, err := tasks.OpenPath(filepath.Join(dir, "set.yaml")); err == nil ||
		!strings.Contains(err.Error(), "set.yaml is not a task: name the folder that holds it") {
		t.Errorf("a problem set without its folder gave %v", err)
	}
	if _, err := tasks.OpenPath(filepath.Join(dir, "none")); !os.IsNotExist(err) &&
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing path gave %v", err)
	}
}

func TestCasesWriteTheirSpecLine(t *testing.T) {
	for _, test := range []struct {
		c    tasks.Case
		want string
	}{
		{nil, ""},
		{tasks.Case{{Name: "size", Value: "1024"}}, "size: 1024"},
		{tasks.Case{{Name: "size", Value: "1024"}, {Name: "kind", Value: "[1, 2]"}}, "size: 1024; kind: [1, 2]"},
	} {
		if got := test.c.String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestACaseCannotForgeASecondOne(t *testing.T) {
	for _, value := range []string{`"1; seed: 2"`, `"1\nsize: 2"`, `"1\r2"`} {
		_, err := task(t, minimal+"tests:\n  - a: "+value+"\n")
		if err == nil || !strings.Contains(err.Error(), "must not hold ;") {
			t.Errorf("%s gave %v", value, err)
		}
	}
}

// TestAPathThatIsNoFileIsRefusedUnread checks that OpenPath does not read pipes and devices: a pipe can block forever,
// and a device may have no end.
func TestAPathThatIsNoFileIsRefusedUnread(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "add.zip")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "large.zip")
	write(t, large, "")
	if err := os.Truncate(large, 8<<30); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "is not a regular file", "/dev/zero": "is not a regular file",
		large: "is larger than 64 MiB"} {
		opened := make(chan error, 1)
		go func() {
			_, err := tasks.OpenPath(path)
			opened <- err
		}()
		select {
		case err := <-opened:
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		case <-time.After(tier.Patience()):
			t.Errorf("%s is being read for ever", path)
		}
	}
}
