package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/harness/pairtest"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

const twoCases = "seed: 1; size: 100; scale: 2.5; kind: plain\nseed: 2; size: 100000; scale: -1e-05; kind: shifted_by_1\n"

// native compiles programs in a folder with the C++ harness and a task.
type native struct {
	dir string
}

func newNative(t *testing.T, files map[string][]byte) native {
	t.Helper()
	n := native{t.TempDir()}
	writeAll(t, n.dir, Sources(tasks.ProtocolEval, tasks.LangCPP))
	writeAll(t, n.dir, files)
	return n
}

// scaled has the compiled judge of the task in testdata/cpp, and the object file of its runner without a submission.
// The first test that needs them compiles them.
var scaled struct {
	compile sync.Once
	files   map[string][]byte
}

// newScaled returns a folder with the programs of scaled and with further files of testdata.
func newScaled(t *testing.T, names ...string) native {
	t.Helper()
	n := newNative(t, testdata(t, append(names, "cpp/task.h", "cpp/reference.h")...))
	scaled.compile.Do(func() {
		n.buildAll(t, map[string][]string{"judge": {"eval.cpp"}, "runner.o": {"-c", "warpboard_runner.cpp"}})
		scaled.files = map[string][]byte{}
		for _, name := range []string{"judge", "runner.o"} {
			file, err := os.ReadFile(n.program(name))
			if err != nil {
				t.Fatal(err)
			}
			scaled.files[name] = file
		}
	})
	writeAll(t, n.dir, scaled.files)
	if err := os.Chmod(n.program("judge"), 0o755); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n native) compile(name string, arguments ...string) (program, printed string, err error) {
	program = filepath.Join(n.dir, name)
	command := exec.Command("g++",
		append([]string{"-std=c++20", "-O1", "-pthread", "-I.", "-o", program}, arguments...)...)
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

// buildAll compiles several programs, by name, with one compiler per processor at a time.
func (n native) buildAll(t *testing.T, programs map[string][]string) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for name, arguments := range programs {
		group.Go(func() error {
			if _, printed, err := n.compile(name, arguments...); err != nil {
				return fmt.Errorf("%s does not compile: %w\n%s", name, err, printed)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

func (n native) program(name string) string { return filepath.Join(n.dir, name) }

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
	n := newScaled(t, "cpp/correct.cpp", "cpp/wrong.cpp", "cpp/stale.cpp", "cpp/counting.cpp", "cpp/crash.cpp")
	runners := map[string][]string{}
	for _, name := range []string{"correct.cpp", "wrong.cpp", "stale.cpp", "counting.cpp", "crash.cpp"} {
		runners["runner of "+name] = []string{"-DWARPBOARD_SUBMISSION", "runner.o", name}
	}
	n.buildAll(t, runners)
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
			r := pairtest.Run(t, n.program("judge"), n.program("runner of "+tt.submission), tt.mode, twoCases)
			report := parseReport(r.Report)
			if r.Judge.ExitCode() != tt.judge || report.Verdict() != tt.check {
				t.Fatalf("judge: %v, runner: %v; want exit code %d\n%s\n%s", r.Judge, r.Runner, tt.judge, r.Report,
					r.Stderr)
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

// growingCases has cases in which shared regions grow, so that earlier regions are released.
const growingCases = "seed: 1; size: 100; scale: 2.5; kind: plain\nseed: 2; size: 100000; scale: -1e-05; kind: plain\n" +
	"seed: 3; size: 900000; scale: 3; kind: plain\nseed: 4; size: 10; scale: 1.5; kind: plain\n"

// Each way is a behavior of the submission, in the order of ways.cpp.
func TestUnusualUsesOfMemory(t *testing.T) {
	tier.Needs(t, tier.Judge)
	n := newScaled(t, "cpp/ways.cpp")
	n.buildAll(t, map[string][]string{
		"runner":   {"-DWARPBOARD_SUBMISSION", "runner.o", "ways.cpp"},
		"own_heap": {"-DWARPBOARD_SUBMISSION", "-DOWN_HEAP", "runner.o", "ways.cpp"},
	})
	ways := []string{"keeps_inputs", "own_heap", "throws", "leaves", "large_answer", "grown_answer", "late_writer"}
	for _, tt := range []struct {
		way           string
		judge, runner int
		printed       string
	}{
		{"keeps_inputs", 0, 0, ""},
		{"own_heap", 0, 0, ""},
		{"large_answer", 0, 0, ""},
		{"grown_answer", 0, 0, ""},
		{"throws", 115, 1, "uncaught exception: out of ideas"},
		{"leaves", 115, 0, ""},
		{"late_writer", 112, 0, ""},
	} {
		t.Run(tt.way, func(t *testing.T) {
			program := "runner"
			if tt.way == "own_heap" {
				program = "own_heap"
			}
			r := pairtest.Run(t, n.program("judge"), n.program(program), "test", growingCases,
				fmt.Sprint("WAY=", slices.Index(ways, tt.way)))
			if r.Judge.ExitCode() != tt.judge || r.Runner.ExitCode() != tt.runner ||
				!strings.Contains(r.Stderr, tt.printed) {
				t.Errorf("judge: %v, runner: %v; want exit codes %d and %d\n%s\n%s", r.Judge, r.Runner, tt.judge,
					tt.runner, r.Report, r.Stderr)
			}
		})
	}
}
