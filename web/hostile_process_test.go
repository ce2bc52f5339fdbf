package web_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpboard/internal/test/tier"
	"warpboard/web"
	"warpboard/web/webtest"
)

// TestServeForAnotherTest is not a test. It runs a site in a separate process, which other tests start.
func TestServeForAnotherTest(t *testing.T) {
	settings := os.Getenv("WARPBOARD_TEST_SITE")
	if settings == "" {
		return // only startProcess sets the variable
	}
	s := webtest.NewEvalSite(t, func(c *web.Config) {
		c.TokenlessEvaluators = "loopback"
		if settings != "standard" {
			c.Limits.Connections, _ = strconv.Atoi(settings)
		}
	})
	fmt.Printf("site at %s\n", s.Cfg.Settings.Addr)
	io.Copy(io.Discard, os.Stdin) // until the other test closes the pipe
}

// process is a site that runs in a separate process.
type process struct {
	addr string
	pid  int
}

// startProcess starts a site that may have nofile open files. connections is a number for Limits.Connections, or
// "standard".
func startProcess(t *testing.T, nofile int, connections string) process {
	t.Helper()
	cmd := exec.Command("sh", "-c",
		fmt.Sprintf(`ulimit -n %d; exec "$0" -test.run '^TestServeForAnotherTest$'`, nofile), os.Args[0])
	// the standard GOGC, because the tests measure memory
	cmd.Env = append(os.Environ(), "WARPBOARD_TEST_SITE="+connections, "GOGC=100")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the site's process ended with %v", err)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "site at "); ok {
			return process{addr, cmd.Process.Pid}
		}
	}
	t.Fatal("the site's process does not come up")
	return process{}
}

// memory returns the process's resident memory in MB.
func (p process) memory(t *testing.T) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("VmRSS:"))
	kilobytes, err := strconv.Atoi(strings.Fields(string(after))[0])
	if err != nil {
		t.Fatal(err)
	}
	return float64(kilobytes) / 1024
}

// hold opens n connections, sends request on each, and leaves them open.
func (p process) hold(t *testing.T, n int, request string) (closeAll func()) {
	t.Helper()
	var conns []net.Conn
	for range n {
		conn, err := net.DialTimeout("tcp", p.addr, 60*time.Second)
		if err != nil {
			break // the kernel's accept queue is full, too
		}
		conns = append(conns, conn)
		conn.SetWriteDeadline(time.Now().Add(time.Second))
		conn.Write([]byte(request)) // fails on refused connections
	}
	return func() {
		for _, conn := range conns {
			conn.Close()
		}
	}
}

// slowest loads a page several times, one after the other, and returns the 95th percentile of the times.
func (p process) slowest(t *testing.T, asks int) time.Duration {
	t.Helper()
	visitor := &http.Client{Timeout: 60 * time.Second}
	defer visitor.CloseIdleConnections()
	took := make([]time.Duration, asks)
	for i := range took {
		began := time.Now()
		resp, err := visitor.Get("http://" + p.addr + "/")
		if err != nil {
			t.Fatalf("another visitor is not answered: %v", err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if took[i] = time.Since(began); resp.StatusCode != http.StatusOK {
			t.Fatalf("another visitor is answered %s", resp.Status)
		}
	}
	slices.Sort(took)
	return took[asks*95/100]
}

func TestHalfSentRequestsHoldLittleMemory(t *testing.T) {
	tier.Needs(t, tier.Timed)
	const requests, mostMemory, mostWait = 400, 50, 50 * time.Millisecond
	post := func(path, rest string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" + rest
	}
	attacks := []struct{ name, request string }{
		{"a kernel of 12 MB without credentials", post("/evaluate", "Content-Length: 12582912\r\n\r\n{")},
		{"a task of 36 MB without credentials", post("/tasks/new", "Content-Length: 37748736\r\n\r\nxxxx")},
		{"a chunk of 12 MB", post("/evaluate", "Transfer-Encoding: chunked\r\n\r\nbfffff\r\n{")},
		{"almost a form", post("/sign-out", "Content-Length: 65536\r\n\r\n"+strings.Repeat("x", 60<<10))},
		{"much of a kernel", post("/evaluate", "Content-Length: 12582912\r\n\r\n"+strings.Repeat("x", 200<<10))},
		{"half a head", post("/evaluate", "X-Long: "+strings.Repeat("x", 15<<10))},
	}
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			site := startProcess(t, 4096, "standard")
			before, alone := site.memory(t), site.slowest(t, 30)
			closeAll := site.hold(t, requests, attack.request)
			wait := site.slowest(t, 40)
			for range 5 { // repeat slow measurements: other tests use this machine, too
				if wait > mostWait && wait > 3*alone {
					wait = min(wait, site.slowest(t, 40))
				}
			}
			held := site.memory(t) - before
			closeAll()
			if wait > mostWait && wait > 3*alone { // other tests may have started since alone was measured
				alone = max(alone, site.slowest(t, 40))
			}
			t.Logf("%d requests held %.1f MB; p95 of another visitor %v, alone %v", requests, held, wait, alone)
			if held > mostMemory*memoryFactor {
				t.Errorf("%d half-sent requests hold %.0f MB, want less than %d", requests, held,
					mostMemory*memoryFactor)
			}
			if wait > mostWait && wait > 3*alone {
				t.Errorf("another visitor waits %v, want less than %v", wait, mostWait)
			}
		})
	}
}

// turnsAway reports whether the site refuses one more connection with status 503 and a Retry-After header.
func (p process) turnsAway(t *testing.T) bool {
	t.Helper()
	conn, err := net.DialTimeout("tcp", p.addr, 60*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(60 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil) // the refusal comes without a request
	if err != nil {
		t.Logf("one too many is answered %v", err)
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != ""
}

func TestMoreConnectionsThanDescriptorsEndNothing(t *testing.T) {
	for _, attack := range []struct {
		name, connections string
	}{
		{"limited below what the system allows", "standard"},
		{"not limited, so that accept fails", "100000"},
	} {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			site := startProcess(t, 200, attack.connections)
			request := "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
			if attack.connections == "standard" {
				// an incomplete request: after an answer the site could close the connection, which would free a
				// descriptor
				request = "GET / HTTP/1.1\r\nHost: "
			}
			closeAll := site.hold(t, 350, request)
			if attack.connections == "standard" && !site.turnsAway(t) {
				t.Error("one too many is not answered with 503 and when to come again")
			}
			closeAll()
			// the server notices closed connections one by one
			tier.WaitFor(t, "the site after the attack", func() error {
				resp, err := (&http.Client{Timeout: time.Second}).Get("http://" + site.addr + "/healthz")
				if err != nil {
					return err
				}
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					return errors.New(resp.Status)
				}
				return nil
			})
			site.slowest(t, 20)
		})
	}
}
