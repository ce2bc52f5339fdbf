package pairtest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// PageSize is the size of the shared memory page, in bytes.
const PageSize = 256 << 10

// processTimeout limits a stage.
const processTimeout = time.Minute

// Ends has the files that the processes of a stage share: the judge's socket, with a runner already waiting in it, the
// runner's end of its channel, and the page.
type Ends struct {
	Door, Runner, Page *os.File
}

// NewEnds returns new Ends, closed at the end of the test.
func NewEnds(t testing.TB) Ends {
	t.Helper()
	channel, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	door, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	page, err := unix.MemfdCreate("page", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	e := Ends{os.NewFile(uintptr(door[1]), "door"), os.NewFile(uintptr(channel[1]), "runner"), os.NewFile(uintptr(page), "page")}
	t.Cleanup(func() { e.Door.Close(); e.Runner.Close(); e.Page.Close() })
	err = e.Page.Truncate(PageSize)
	if err == nil {
		// The third descriptor is the life line, which ends with the runner's last process. Here it is the channel
		// again, because no runner in these tests closes its channel before it ends.
		err = unix.Sendmsg(door[0], make([]byte, 4), unix.UnixRights(channel[0], page, channel[0]), nil, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(channel[0])
	unix.Close(door[0]) // no other runner follows
	return e
}

// BuildCore compiles the judge's core of Python programs from its sources, and returns the shared library.
func BuildCore(t testing.TB, sources map[string][]byte) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, text := range sources {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compile := exec.CommandContext(t.Context(), "g++", "-std=c++20", "-fPIC", "-shared", "-I.", "-o", "core", "warpboard_core.cpp", "-ldl")
	compile.Dir = dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	library, err := os.ReadFile(filepath.Join(dir, "core"))
	if err != nil {
		t.Fatal(err)
	}
	return library
}

// Result is the result of a stage.
type Result struct {
	Report string
	Judge  *os.ProcessState
	Runner *os.ProcessState // nil if the test acts as the runner
	Stdout string           // stdout of the judge
	Errors string           // stderr of the judge
	Stderr string           // stderr of the runner
}

// StartJudge starts a judge with cases, one per line, and returns a function that waits for its end.
func StartJudge(t testing.TB, program string, e Ends, mode, cases string) (wait func() Result) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cases.txt")
	if err := os.WriteFile(path, []byte(cases), 0o644); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	judge := exec.Command(program, mode, path)
	judge.ExtraFiles, judge.Env = []*os.File{write, e.Door}, []string{"POPCORN_FD=3"}
	judge.Stdout, judge.Stderr = &stdout, &stderr
	start(t, judge)
	write.Close()
	e.Door.Close() // otherwise the runner would not detect the end of the channel
	report := make(chan string)
	go func() {
		defer read.Close()
		text, _ := io.ReadAll(read)
		report <- string(text)
	}()
	return func() Result {
		r := Result{Report: <-report}
		r.Judge = end(t, judge)
		r.Stdout, r.Errors = stdout.String(), stderr.String()
		return r
	}
}

// Run runs a stage with the given judge and runner programs. env is the environment of the runner.
func Run(t testing.TB, judge, runner, mode, cases string, env ...string) Result {
	t.Helper()
	e := NewEnds(t)
	var stderr strings.Builder
	command := exec.Command(runner)
	command.ExtraFiles, command.Env, command.Stderr = []*os.File{nil, e.Runner, e.Page}, append([]string{}, env...), &stderr
	start(t, command)
	e.Runner.Close()
	r := StartJudge(t, judge, e, mode, cases)()
	r.Runner, r.Stderr = end(t, command), stderr.String()
	return r
}

func start(t testing.TB, command *exec.Cmd) {
	t.Helper()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(processTimeout, func() { command.Process.Kill() })
	t.Cleanup(func() { timer.Stop() })
}

func end(t testing.TB, command *exec.Cmd) *os.ProcessState {
	t.Helper()
	var exit *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState
}
