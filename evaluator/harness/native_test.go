package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/evaluator/harness/pairtest"
	"warpboard/tasks"
)

const twoCases = "seed: 1; size: 100; scale: 2.5; kind: plain\nseed: 2; size: 100000; scale: -1e-05; kind: shifted_by_1\n"

// native compiles programs in a folder that has the C++ harness and a task.
type native struct {
	dir string
}

func newNative(t *testing.T, files map[string][]byte) native {
	t.Helper()
	n := native{t.TempDir()}
	writeAll(t, n.dir, Sources(tasks.FormEval, tasks.LangCPP))
	writeAll(t, n.dir, files)
	return n
}

func (n native) compile(name string, arguments ...string) (program, printed string, err error) {
	program = filepath.Join(n.dir, name)
	command := exec.Command("g++", append([]string{"-std=c++20", "-O1", "-pthread", "-I.", "-o", program}, arguments...)...)
	command.Dir = n.dir
	out, err := command.CombinedOutput()
	return program, string(out), err
}

func (n native) build(t *testing.T, name string, arguments ...string) (program string) {
	t.Helper()
	program, printed, err := n.compile(name, arguments...)
	if err != nil {
		t.Fatalf("%s does not compile: %v\n%s", name, err, printed)
	}
	return program
}

func testdata(t *testing.T, names ...string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = text
	}
	return files
}

func parseReport(text string) *Parser {
	p := NewParser(nil)
	p.Write([]byte(text))
	p.Close()
	return p
}

func TestNativeVerdicts(t *testing.T) {
	n := newNative(t, testdata(t, "cpp/task.h", "cpp/reference.h", "cpp/correct.cpp", "cpp/wrong.cpp", "cpp/stale.cpp", "cpp/counting.cpp", "cpp/crash.cpp"))
	judge := n.build(t, "judge", "eval.cpp")
	n.build(t, "runner.o", "-c", "warpboard_runner.cpp")
	for _, tt := range []struct {
		submission, mode string
		judge            int
		check, message   string
	}{
		{"correct.cpp", "test", 0, "pass", ""},
		{"correct.cpp", "benchmark", 0, "pass", ""},
		{"correct.cpp", "leaderboard", 0, "pass", ""},
		{"correct.cpp", "profile", 0, "pass", ""},
		{"wrong.cpp", "test", 112, "fail", "error at 7: expected"},
		{"stale.cpp", "leaderboard", 112, "fail", "error at 0: expected"},
		{"counting.cpp", "leaderboard", 112, "fail", "error at 0"},
		{"crash.cpp", "test", 115, "", ""},
	} {
		t.Run(tt.submission+"/"+tt.mode, func(t *testing.T) {
			runner := n.build(t, "runner", "-DWARPBOARD_SUBMISSION", "runner.o", tt.submission)
			r := pairtest.Run(t, judge, runner, tt.mode, twoCases)
			report := parseReport(r.Report)
			if r.Judge.ExitCode() != tt.judge || report.Check() != tt.check {
				t.Fatalf("judge: %v, runner: %v; want exit code %d\n%s\n%s", r.Judge, r.Runner, tt.judge, r.Report, r.Stderr)
			}
			message := ""
			for _, c := range report.Cases() {
				message += c.Message
			}
			if !strings.Contains(message, tt.message) {
				t.Errorf("message is %q", message)
			}
		})
	}
}
