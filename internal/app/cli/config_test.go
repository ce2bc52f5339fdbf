package cli

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

// world is a machine with a config file, and a site that records the tokens of requests.
type world struct {
	*httptest.Server
	vars    map[string]string
	out     bytes.Buffer
	tokens  []string
	stdin   string
	version string // version of the command
	me      client.User
}

func newWorld(t *testing.T) *world {
	w := &world{vars: map[string]string{"WARPBOARD_SITES": filepath.Join(t.TempDir(), "x", "config.toml")}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/login":
			rw.Write([]byte(`{"secret": "s", "code": "BCDF-GHJK", "url": "http://site/login?code=BCDF-GHJK", "every": 1, "expires": "2999-01-01T00:00:00Z"}`))
		case "/api/v1/login/token":
			rw.Write([]byte(`{"token": "wb_kept", "user": {"id": 1, "name": "Ada"}}`))
		default:
			w.tokens = append(w.tokens, r.Header.Get("Authorization"))
			rw.Write([]byte(`{"tasks": [{"slug": "sum\u001b[2J", "title": "Sum"}]}`))
		}
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *world) run(t *testing.T, args ...string) error {
	t.Helper()
	w.out.Reset()
	env := console.Environment{Getenv: func(name string) string { return w.vars[name] }, Stdout: &w.out, Stderr: &w.out,
		Stdin: strings.NewReader(w.stdin), Version: w.version}
	root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(env)...)
	root.SetOut(&w.out)
	root.SetArgs(args)
	return root.ExecuteContext(t.Context())
}

func TestLoginKeepsATokenForItsSiteAndItsOwnerAlone(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	if err := w.run(t, "login", w.URL, "--name", "home"); err != nil {
		t.Fatal(err)
	}
	if output := w.out.String(); strings.Contains(output, "wb_kept") || !strings.Contains(output, "BCDF-GHJK") ||
		!strings.Contains(output, "Ada") {
		t.Errorf("login said\n%s", output)
	}
	file := w.vars["WARPBOARD_SITES"]
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	for _, args := range [][]string{{"tasks"}, {"tasks", "--server", "home"}, {"tasks", "--server", w.URL + "/"},
		{"tasks", "--token", "flag"}, {"tasks", "--token", ""}} {
		if err := w.run(t, args...); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	if got := strings.Join(w.tokens, ","); got != "Bearer wb_kept,Bearer wb_kept,Bearer wb_kept,Bearer flag," {
		t.Errorf("the site got %q", got)
	}
	if err := w.run(t, "tasks", "--server", other.URL); err != nil || strings.Join(other.tokens, "") != "" {
		t.Errorf("another site got %q, %v", other.tokens, err)
	}
	if strings.Contains(w.out.String(), "\x1b") {
		t.Errorf("a site's text moves the cursor: %q", w.out.String())
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t, "tasks"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t, "logout"); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(file); strings.Contains(string(text), "wb_kept") {
		t.Error("the token is still there after logout")
	}
}

func TestATokenIsSentWithoutTheLineEndOfItsFile(t *testing.T) {
	w := newWorld(t)
	w.vars["WARPBOARD_TOKEN"] = "wb_kept\r\n"
	if err := w.run(t, "tasks", "--server", w.URL); err != nil || strings.Join(w.tokens, ",") != "Bearer wb_kept" {
		t.Errorf("%v, the site got %q", err, w.tokens)
	}
	for _, token := range []string{"wb_secret\nx", "wb_secret…"} {
		w.vars["WARPBOARD_TOKEN"] = token
		err := w.run(t, "tasks", "--server", w.URL)
		if console.ExitCode(err) != console.ExitUsage || !strings.Contains(err.Error(), "copy it again") ||
			strings.Contains(err.Error(), "wb_secret") {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestATaskWithoutANameIsNotFound(t *testing.T) {
	w := newWorld(t)
	if err := w.run(t, "task", "show", "", "--server", w.URL); console.ExitCode(err) != console.ExitRefused {
		t.Errorf("%v, %s", err, w.out.String())
	}
}

func TestABrokenConfigFileIsNotQuoted(t *testing.T) {
	w := newWorld(t)
	w.vars["WARPBOARD_SITES"] = filepath.Join(t.TempDir(), "config.toml")
	for _, text := range []string{"[sites.a]\ntoken = \"wb_secret", "[sites]\na = \"wb_secret\""} {
		if err := os.WriteFile(w.vars["WARPBOARD_SITES"], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.run(t, "tasks"); err == nil || strings.Contains(err.Error(), "wb_secret") {
			t.Errorf("%v", err)
		}
	}
}

func TestAnAnswerThatIsCutOffExitsAsNoAnswer(t *testing.T) {
	w := newWorld(t)
	var reset atomic.Bool // atomic, because the server's goroutine reads it
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		conn, buffer, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		buffer.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"tasks\": [")
		buffer.Flush()
		if reset.Load() {
			conn.(*net.TCPConn).SetLinger(0)
		}
	})
	for _, cut := range []bool{false, true} {
		reset.Store(cut)
		err := w.run(t, "tasks", "--server", w.URL)
		if code := console.ExitCode(err); code != console.ExitUnreachable || !strings.Contains(err.Error(), "try again") {
			t.Errorf("reset %v: exit %d, %v", cut, code, err)
		}
	}
}

func TestExitCodesTellWhatWentWrong(t *testing.T) {
	for want, err := range map[int]error{
		0: nil, console.ExitOtherError: errors.New("x"), console.ExitUsage: console.NewUsageError("x"),
		console.ExitFailed:  console.NewFailedError("x"),
		console.ExitRefused: &client.Problem{Status: 422}, console.ExitNotSignedIn: &client.Problem{Status: 401},
		console.ExitUnreachable: &client.Problem{Status: 503},
	} {
		if got := console.ExitCode(err); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
	}
	w := newWorld(t)
	w.Close()
	if got := console.ExitCode(w.run(t, "tasks", "--server", w.URL)); got != console.ExitUnreachable {
		t.Errorf("a site that is away: exit code %d", got)
	}
}

func TestAProjectFileSaysWhatAKernelIsFor(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "deep", "a.cu")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, projectFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("task = \"sum\"\ndevices = [\"CPU\"]\n[[kernel]]\nfile = \"deep/a.cu\"\ntask = \"sort\"\n")
	p, err := findProject(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{"int x;": "sort CPU", "//!POPCORN leaderboard mine\n": " CPU",
		"//!POPCORN gpus H100\n": "sort "} {
		var task string
		var devices []string
		if err := p.kernelConfigFor(file).fillFromProject(&task, &devices, []byte(source)); err != nil {
			t.Fatal(err)
		}
		if got := task + " " + strings.Join(devices, ","); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
	write("server = \"http://evil\"\n")
	if _, err := findProject(filepath.Dir(file)); err == nil || !strings.Contains(err.Error(), `"server"`) {
		t.Errorf("a project file that names a site: %v", err)
	}
}
