package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
)

// commanded runs a command line, and returns its exit code, standard output, and standard error.
func commanded(t *testing.T, vars map[string]string, args ...string) (code int, out, wrong string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := Environment{Getenv: func(name string) string { return vars[name] }, Stdout: &stdout, Stderr: &stderr}
	err := Run(t.Context(), env, args)
	if err != nil {
		console.PrintError(&stderr, args, err)
	}
	return console.ExitCode(err), stdout.String(), stderr.String()
}

func TestErrorsAreJSONHoweverThatIsAskedFor(t *testing.T) {
	vars := map[string]string{"WARPBOARD_SITES": filepath.Join(t.TempDir(), "sites.toml")}
	for flag, want := range map[string]bool{"--json": true, "--json=true": true, "--json=1": true, "--jq=.id": true,
		"--json=false": false, "--json=0": false} {
		_, _, wrong := commanded(t, vars, "show", "x", flag)
		if got := json.Valid([]byte(wrong)); got != want {
			t.Errorf("%s: %s", flag, wrong)
		}
	}
}

// full is a writer that fails like a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestACommandWhoseOutputIsCutOffDoesNotExitWithZero(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"id": 1, "name": "a.cpp", "text": "int main"}`)
	}))
	t.Cleanup(site.Close)
	vars := map[string]string{"WARPBOARD_SITES": filepath.Join(t.TempDir(), "sites.toml"), "WARPBOARD_SERVER": site.URL}
	for _, line := range []string{"tasks", "show 1", "source 1", "source 1 --json", "source 1 --jq .text", "--help",
		"version", "skill --to -"} {
		env := Environment{Getenv: func(name string) string { return vars[name] }, Stdout: full{}, Stderr: io.Discard}
		if err := Run(t.Context(), env, strings.Fields(line)); !errors.Is(err, syscall.ENOSPC) ||
			console.ExitCode(err) != console.ExitOtherError {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAMistakeInTheCommandLineExitsWithTwo(t *testing.T) {
	sites := map[string]string{"WARPBOARD_SITES": filepath.Join(t.TempDir(), "sites.toml")}
	for line, want := range map[string]string{
		"sumbit a.cu":              "there is no command warpboard sumbit: did you mean submit?",
		"task foo":                 "there is no command warpboard task foo (warpboard task --help lists them)",
		"task pul":                 "did you mean pull?",
		"completion tcsh":          "there is no command warpboard completion tcsh",
		"completion bash more":     `warpboard completion bash takes no argument, such as "more"`,
		"help nope":                "there is no command warpboard nope",
		"version foo":              `takes no argument, such as "foo"`,
		"version --foo":            "unknown flag: --foo (warpboard version --help prints its flags)",
		"tasks --server nonsense":  `"nonsense" is neither an address like https://boards.example.org nor the name of a site`,
		"tasks --server ftp://a/b": `"ftp://a/b" is neither an address`,
		"tasks more":               `warpboard tasks takes no argument, such as "more"`,
		"show":                     "ID is missing: warpboard show ID",
		"board sum":                "DEVICE is missing: warpboard board TASK DEVICE",
		"show 1 2":                 `warpboard show takes nothing after ID, such as "2"`,
		"show x":                   `"x" is not the number of a submission`,
		"runs --before x":          `--before: "x" is not a whole number`,
		"task pull":                "TASK is missing",
		"submit --nope a.cu":       "unknown flag: --nope (warpboard submit --help prints its flags)",
	} {
		code, _, wrong := commanded(t, sites, strings.Fields(line)...)
		if code != 2 || !strings.Contains(wrong, want) || strings.Contains(wrong, "strconv") {
			t.Errorf("%s: exit %d, %s, want 2, %s", line, code, wrong, want)
		}
	}
	for line, want := range map[string]string{"task": "Usage:", "help task": "publish", "completion": "bash",
		"": "With a site:", "check-config --help": "warpboard check-config [serve|work]", "version": "harness",
		"version --json": "harness"} {
		if code, out, wrong := commanded(t, sites, strings.Fields(line)...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%q: exit %d, %s%s, want %s", line, code, out, wrong, want)
		}
	}
}

func TestCommandsReportRefusalsInTheirOwnTerms(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusUnauthorized
		if r.URL.Path == "/api/v1/submissions/7" {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
		w.Write([]byte(`{"code": "some_code", "detail": "Sign in first.", "request_id": "r1"}`))
	}))
	defer site.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + closed.Addr().String()
	closed.Close()
	vars := map[string]string{"WARPBOARD_SITES": filepath.Join(t.TempDir(), "sites.toml")}
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{"runs --server " + site.URL, "you are not signed in to " + site.URL + ": run warpboard login " + site.URL, 5},
		{"runs --token old --server " + site.URL, "does not accept this token", 5},
		{"runs --server " + gone, "warpboard: " + gone + " does not answer: connection refused\n", 6},
		{"submit nothing.cu --task sum --server " + gone, "warpboard: nothing.cu: no such file or directory\n", 1},
	} {
		if code, _, wrong := commanded(t, vars, strings.Fields(c.line)...); code != c.code ||
			!strings.Contains(wrong, c.want) {
			t.Errorf("%s: exit %d, %s, want %d, %s", c.line, code, wrong, c.code, c.want)
		}
	}
	code, out, wrong := commanded(t, vars, "show", "7", "--json", "--server", site.URL)
	var answers struct {
		Error, Code string
		Exit        int    `json:"exit_code"`
		Status      int    `json:"status"`
		Request     string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(wrong), &answers); err != nil || code != 4 || out != "" || answers.Exit != 4 ||
		answers.Status != 404 || answers.Code != "some_code" || answers.Request != "r1" || answers.Error == "" {
		t.Errorf("with --json an error is %q, %v, and the output %q", wrong, err, out)
	}
}

// TestEveryCommandOfASiteHasExamplesThatItTakes checks that the examples use only existing flags and allowed arguments.
func TestEveryCommandOfASiteHasExamplesThatItTakes(t *testing.T) {
	root := rootCommand(Environment{Getenv: func(string) string { return "" }})
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			check(below)
		}
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			_, line, _ = strings.Cut(line, "warpboard ")
			line, _, _ = strings.Cut(line, " '") // remove a quoted jq expression
			fresh := rootCommand(Environment{Getenv: func(string) string { return "" }})
			found, rest, err := fresh.Find(strings.Fields(strings.TrimSuffix(line, " --jq")))
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil || !strings.HasPrefix(found.CommandPath(), cmd.CommandPath()) {
				t.Errorf("%s has the example %q: %v", cmd.CommandPath(), line, err)
			}
		}
	}
	for _, cmd := range root.Commands() {
		if cmd.GroupID == "site" {
			check(cmd)
		}
	}
}
