package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/app"
	"warpboard/internal/test/tier"
	"warpboard/web/browsertest"
)

// asProgram makes the test binary behave as warpboard itself, so that tests can start, kill -9, and restart a real
// server process without building another binary.
const asProgram = "WARPBOARD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		app.Main()
		return
	}
	os.Exit(runTests(m))
}

// chromium is the browser of all tests.
var chromium browsertest.Browser

// objects is the directory for compiled objects that the sites of these tests share.
var objects string

func runTests(m *testing.M) int {
	dir, remove, err := sandboxtest.Objects()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	defer chromium.Close()
	objects = dir
	flag.Parse()
	// more parallel tests than cores, because tests mostly wait
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.NumCPU()))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// process is a running warpboard command.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  *logBuffer
	done chan struct{} // closed when the process has ended
}

// logBuffer collects a process's output. It is safe for concurrent use.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start runs a warpboard command as a separate process, which stops when the test ends.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith is start with more variables in the process's environment.
func startWith(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startPassing(t, nil, env, args...)
}

// startPassing is startWith with open files, which the process has as descriptors from 3 on.
func startPassing(t *testing.T, files []*os.File, env []string, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(exe, args...), log: &logBuffer{}, done: make(chan struct{})}
	// Compiling in advance and confirmations would disturb the tests that check for leftovers of runs; the tests of
	// these features enable them. Sites share compiled objects, except in those tests. Idle slots are not benchmarked:
	// that takes half a minute of a processor, which other tests need.
	p.cmd.Env = append(os.Environ(), asProgram+"=1", "WARPBOARD_COMPILE_AHEAD=false", "WARPBOARD_CONFIRM_RECORDS=false",
		"WARPBOARD_GAUGE_EVERY=0",
		"WARPBOARD_BUILD_NICE=1", "WARPBOARD_OBJECT_CACHE="+objects)
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = p.log, p.log, files
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("output of warpboard %v: %s", args, tier.KeepLog(t, p.log.String()))
		}
	})
	return p
}

// stop sends a process the signal to end, and waits for its end.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(40 * time.Second):
		p.t.Error("warpboard did not stop within 40 s of SIGTERM")
		p.kill()
	}
}

// kill ends a process without a chance to clean up, like a power failure.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// site is a running server with its data directory.
type site struct {
	*process
	addr, url, data string
	firstUID        int
	args            []string
	socket          *os.File // listening socket passed to the server, as by systemd; nil: the server opens one
}

// startSite starts a server at its own address with a fresh data directory.
func startSite(t *testing.T, args ...string) *site {
	t.Helper()
	return startSiteBelow(t, "", args...)
}

// startSiteBelow starts a server below a path of its address.
func startSiteBelow(t *testing.T, path string, args ...string) *site {
	t.Helper()
	s := &site{addr: sandboxtest.Addr(t), data: filepath.Join(t.TempDir(), "data"), firstUID: sandboxtest.FirstUID(t),
		args: args}
	s.url = "http://" + s.addr + path
	if path != "" {
		s.args = append(s.args, "--base-url", s.url)
	}
	s.up(t)
	return s
}

// up starts the server on the site's address and data, and waits until it answers.
func (s *site) up(t *testing.T) {
	t.Helper()
	base := []string{"serve", "--addr", s.addr, "--data", s.data, "--worker-name", "test", "--first-uid",
		strconv.Itoa(s.firstUID), "--grace", "2s", "--baselines=false"}
	if args := append(base, s.args...); s.socket == nil {
		s.process = start(t, args...)
	} else {
		s.process = startPassing(t, []*os.File{s.socket}, []string{"LISTEN_FDS=1"}, args...)
	}
	tier.WaitFor(t, "the server to answer", func() error {
		select {
		case <-s.done:
			t.Fatal("the server ended")
		default:
		}
		res, err := http.Get(s.url + "/healthz")
		if err != nil {
			return err
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("/healthz: %s", res.Status)
		}
		return nil
	})
}
