package web_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/clients/python"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

// TestPipInstallsTheClientFromTheSite installs the Python client in a new virtual environment, as the README describes,
// and uses it to read the site.
func TestPipInstallsTheClientFromTheSite(t *testing.T) {
	s := webtest.NewEvalSite(t)
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator), "sort",
		"CPU")
	for _, ns := range []float64{8000, 5000} { // two submissions, with the IDs 1 and 2
		modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, s.User, task)[0], ns)
	}
	environment := filepath.Join(t.TempDir(), "venv")
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "PIP_CONFIG_FILE=/dev/null", "PIP_NO_CACHE_DIR=1", "NO_PROXY=127.0.0.1",
			"WARPBOARD_SERVER="+s.URL, "WARPBOARD_TOKEN="+s.Token)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
		return string(out)
	}
	run("/usr/bin/python3", "-m", "venv", "--without-pip", environment)
	run("/usr/bin/python3", "-m", "pip", "--python", environment, "--isolated", "--disable-pip-version-check",
		"install",
		"--index-url", s.URL+web.PythonIndex, "warpboard")
	w, err := python.Build()
	if err != nil {
		t.Fatal(err)
	}
	if message := run(filepath.Join(environment, "bin/warpboard-eval"), "--version"); message != "warpboard-eval "+w.Version+
		"\n" {
		t.Errorf("its command says %q", message)
	}
	message := run(filepath.Join(environment, "bin/python"), "-c", `
import warpboard
site = warpboard.Warpboard()
made = site.submit("a.cpp", source="int x;", task="sort")
print(site.tasks()[0].slug, site.me().name, made.runs[0].state, site.submissions()[0].id == made.id, site.board("sort", "CPU")[0].score_ns)
print(site.compare(1, 2).caption)
print(site.cancel(made).ended, site.wait(made).passed)`)
	if want := "sort " + s.User.Name +
		" queued True 5000.0\nA 8 µs, B 5 µs: B is faster, 0.625 times A's time\nTrue False\n"; message != want {
		t.Errorf("the installed client says %q, want %q", message, want)
	}
}

func TestThePackageIndexAnswersInBothForms(t *testing.T) {
	s := webtest.NewEvalSite(t)
	get := func(path, accept string) string {
		t.Helper()
		resp, err := s.Send(t.Context(), "GET", path, "", "Accept", accept)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"),
			strings.TrimSuffix(accept, ";q=1")) {
			t.Fatalf("%s: %s, %s", path, resp.Status, resp.Header.Get("Content-Type"))
		}
		return webtest.Body(t, resp)
	}
	var index struct {
		Meta  map[string]string
		Files []struct {
			Filename, URL string
			Hashes        map[string]string
			Requires      string `json:"requires-python"`
		}
	}
	if err := json.Unmarshal([]byte(get("/clients/python/simple/warpboard", web.SimpleJSON)), &index); err != nil {
		t.Fatal(err)
	}
	w, err := python.Build()
	if err != nil {
		t.Fatal(err)
	}
	if f := index.Files[0]; index.Meta["api-version"] != "1.0" || f.Filename != w.FileName ||
		f.URL != "../../"+w.FileName ||
		len(f.Hashes["sha256"]) != 64 || f.Requires != ">=3.9" {
		t.Errorf("the index is %+v", index)
	}
	for path, want := range map[string]string{
		web.PythonIndex: `<a href="warpboard/">warpboard</a>`,
		web.PythonIndex + "warpboard/": `#sha256=` + index.Files[0].Hashes["sha256"] +
			`" data-requires-python="&gt;=3.9">` + w.FileName + `</a>`,
	} {
		if page := get(path, "text/html"); !strings.Contains(page, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, page)
		}
	}
	for _, path := range []string{web.PythonIndex + "torch/", "/clients/python/warpboard-9.9-py3-none-any.whl"} {
		if resp := s.Browser().Get(path); resp.StatusCode != 404 {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}
