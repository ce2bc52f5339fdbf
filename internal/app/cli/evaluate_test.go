package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

// evaluating makes the site respond to evaluations according to the source: "wrong" gives a wrong answer, "broken" does
// not compile, and "right" is correct. It returns the last request, which later requests replace.
func (w *world) evaluating(t *testing.T) *map[string]any {
	asked := &map[string]any{}
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		e := client.Evaluation{ID: "e1", URL: "http://site/e1", State: "submitted", Device: "CPU"}
		if r.Method == http.MethodGet {
			kernel, _ := (*asked)["kernel"].(map[string]any)
			if kernel == nil {
				kernel, _ = (*asked)["custom_kernel"].(map[string]any)
			}
			result := json.RawMessage(map[string]string{
				"wrong":  `{"kernel_exec_result": {"compiled": true, "correctness": false, "validation_error": "element 3 is wrong"}}`,
				"broken": `{"kernel_exec_result": {"compiled": false, "compilation_error": "a.py:1: SyntaxError"}}`,
				"right":  `{"kernel_exec_result": {"compiled": true, "correctness": true, "speedup": 2.5, "vacuous_reason": "Zeros would pass as well.", "remarks": ["A remark."], "runtime_stats": {"mean": 0.5, "std": 0.01}}}`,
			}[kernel["source_code"].(string)])
			e.State, e.Ended, e.Result = "completed", true, &result
		} else {
			*asked = map[string]any{}
			if err := json.NewDecoder(r.Body).Decode(asked); err != nil {
				t.Errorf("%s %s: %v", r.Method, r.URL, err)
			}
		}
		json.NewEncoder(rw).Encode(e)
	})
	return asked
}

// kernels writes a file for each verdict, with the verdict as its source text.
func kernels(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"right", "wrong", "broken"} {
		if err := os.WriteFile(filepath.Join(dir, name+".py"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEvaluateTellsTheVerdictAndExitsByIt(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	asked := w.evaluating(t)
	kernels(t, dir)
	for _, c := range []struct {
		args   []string
		code   int
		output string
	}{
		{[]string{"right.py", "--device", "cpu", "--trials", "7"}, 0,
			"completed on CPU: 500.0 µs ± 10.00 µs, 2.50 times as fast as the reference"},
		{[]string{"right.py", "--json"}, 0, `"speedup": 2.5`},
		{[]string{"right.py"}, 0, "The check says nothing: Zeros would pass as well.\nA remark."},
		{[]string{"right.py", "--reference", "right.py"}, 0, "500.0 µs"},
		{[]string{"wrong.py", "--reference", "right.py"}, console.ExitFailed, "did not pass"},
		{[]string{"broken.py"}, console.ExitFailed, "did not pass"},
		{[]string{"none.py"}, console.ExitOtherError, ""},
		{[]string{}, console.ExitUsage, ""},
	} {
		for i, arg := range c.args {
			if strings.HasSuffix(arg, ".py") {
				c.args[i] = filepath.Join(dir, arg)
			}
		}
		err := w.run(t, append([]string{"evaluate", "--server", w.URL}, c.args...)...)
		if console.ExitCode(err) != c.code || !strings.Contains(w.out.String(), c.output) {
			t.Errorf("%v: exit code %d, want %d: %v\n%s", c.args, console.ExitCode(err), c.code, err, &w.out)
		}
	}
	if kernel := (*asked)["kernel"].(map[string]any); kernel["kernel_type"] != "torch" {
		t.Errorf("a .py file without Triton is sent as %v", kernel["kernel_type"])
	}
}

func TestEvaluateSendsWhatTheFlagsSay(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	asked := w.evaluating(t)
	kernels(t, dir)
	file := filepath.Join(dir, "right.py")
	if err := w.run(t, "evaluate", "--server", w.URL, file, "--reference", file, "--atol", "1e-5", "--rtol", "0",
		"--class-name", "Mine", "--require", "triton>=3,<4", "--require", "numpy"); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint((*asked)["require"]); got != "[triton>=3,<4 numpy]" {
		t.Errorf("required %s", got)
	}
	metadata, _ := (*asked)["custom_kernel"].(map[string]any)["metadata"].(map[string]any)
	if (*asked)["atol"] != 1e-5 || (*asked)["rtol"] != 0.0 || metadata["class_name"] != "Mine" ||
		(*asked)["ref_kernel"].(map[string]any)["metadata"] != nil {
		t.Errorf("asked %v", *asked)
	}
	// The site has defaults, which depend on the type of an output.
	if err := w.run(t, "evaluate", "--server", w.URL, file, "--reference", file); err != nil || (*asked)["atol"] != nil || (*asked)["rtol"] != nil {
		t.Errorf("without a tolerance: %v, asked %v", err, *asked)
	}
	if err := w.run(t, "evaluate", "--server", w.URL, file, "--atol",
		"1"); console.ExitCode(err) != console.ExitUsage ||
		!strings.Contains(err.Error(), "--atol needs --reference FILE") {
		t.Errorf("a tolerance without a reference: %v", err)
	}
}

func TestEvaluateSendsFilesBesideTheKernel(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	asked := w.evaluating(t)
	kernels(t, dir)
	file := filepath.Join(dir, "right.py")
	if err := w.run(t, "evaluate", "--server", w.URL, file, filepath.Join(dir, "wrong.py")); err != nil {
		t.Fatal(err)
	}
	kernel := (*asked)["kernel"].(map[string]any)
	files, _ := kernel["source_files"].(map[string]any)
	if kernel["source_code"] == "" || len(files) != 1 || files["wrong.py"] == nil {
		t.Errorf("asked %v", *asked)
	}
	request := filepath.Join(dir, "request.json")
	if err := os.WriteFile(request, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t, "evaluate", "--server", w.URL, request, file); console.ExitCode(err) != console.ExitUsage ||
		!strings.Contains(err.Error(), "has no effect") {
		t.Errorf("a file beside a whole request: %v", err)
	}
}

func TestFlagsThatWouldNotCountAreRefused(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	asked := w.evaluating(t)
	kernels(t, dir)
	file := filepath.Join(dir, "request.json")
	if err := os.WriteFile(file, []byte(`{"kernel": {"source_code": "right", "kernel_type": "torch"}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	for flags, named := range map[string]string{
		"--trials 5": "--trials", "--require numpy": "--require", "--device cpu": "--device", "--type torch": "--type", "--io a.json": "--io",
		"--reference " + file: "--reference",
	} {
		err := w.run(t, append([]string{"evaluate", "--server", w.URL, file}, strings.Fields(flags)...)...)
		if console.ExitCode(err) != console.ExitUsage || !strings.Contains(err.Error(), named+" ") {
			t.Errorf("a whole request with %s: %v", flags, err)
		}
	}
	err := w.run(t, "evaluate", "--server", w.URL, filepath.Join(dir, "right.py"), "--reference-type", "torch")
	if console.ExitCode(err) != console.ExitUsage || !strings.Contains(err.Error(), "needs --reference FILE") {
		t.Errorf("the type of no reference: %v", err)
	}
	if len(*asked) > 0 {
		t.Errorf("the site was asked for %v", *asked)
	}
	if err := w.run(t, "evaluate", "--server", w.URL, file); err != nil {
		t.Error(err)
	}
}

func TestCIRunsAKernelAgainstItsReference(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	asked := w.evaluating(t)
	kernels(t, dir)
	project := func(file string) string {
		return "[[kernel]]\nfile = \"" + file + "\"\nreference = \"right.py\"\ndevices = [\"cpu\"]\n"
	}
	for file, want := range map[string]struct {
		code int
		row  string
	}{
		"right.py": {0, "| right.py | right.py | CPU | [passed](" + w.URL +
			"/evaluations/e1) |  | 500.0 µs | 2.50× as fast as the reference |"},
		"wrong.py": {console.ExitFailed, "| wrong.py | right.py | CPU | [failed](" + w.URL +
			"/evaluations/e1): element 3 is wrong |  |  |  |"},
		"broken.py": {console.ExitFailed, "a.py:1: SyntaxError"},
	} {
		if err := os.WriteFile(filepath.Join(dir, projectFile), []byte(project(file)), 0o600); err != nil {
			t.Fatal(err)
		}
		err := w.run(t, "ci", dir, "--server", w.URL)
		if console.ExitCode(err) != want.code || !strings.Contains(w.out.String(), want.row) {
			t.Errorf("%s: exit code %d, want %d: %v\n%s", file, console.ExitCode(err), want.code, err, &w.out)
		}
		if (*asked)["ref_kernel"] == nil || (*asked)["gpu_type"] != "cpu" {
			t.Errorf("%s: asked %v", file, *asked)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, projectFile), []byte(project("../right.py")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t, "ci", dir, "--server", w.URL); err == nil || !strings.Contains(err.Error(), "below the folder") {
		t.Errorf("a kernel outside of the folder: %v", err)
	}
	// A link may lead outside: a pull request could name a secret file of the machine.
	secret := filepath.Join(t.TempDir(), "secret.py")
	if err := errors.Join(os.WriteFile(secret, []byte("token = 1\n"), 0o600),
		os.Symlink(secret, filepath.Join(dir, "link.py")),
		os.WriteFile(filepath.Join(dir, projectFile), []byte(project("link.py")), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t, "ci", dir, "--server", w.URL); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link that leads out of the folder: %v", err)
	}
}
