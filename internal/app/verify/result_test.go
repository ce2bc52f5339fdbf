package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/app/cli/console"
	"warpboard/internal/statement"
	"warpboard/models/catalog"
	"warpboard/tasks"
)

// stating is a site that states one result of a built-in task.
type stating struct {
	*httptest.Server
	key    statement.Key
	keys   []byte
	dir    string
	source []byte
	bundle *tasks.Bundle
	said   statement.Result
}

func newStating(t *testing.T) *stating {
	t.Helper()
	s := &stating{dir: t.TempDir()}
	folder := quickTask(t)
	upload, err := tasks.OpenPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer upload.Close()
	proposals, err := upload.Proposals(time.Now())
	if err != nil || len(proposals) != 1 {
		t.Fatal(proposals, err)
	}
	s.bundle = proposals[0].Bundle
	solutions, err := upload.Solutions(proposals[0].Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, solution := range solutions {
		if solution.Correct {
			s.source = solution.Source
		}
	}
	if s.key, err = statement.KeepKey(filepath.Join(s.dir, "signing.key")); err != nil {
		t.Fatal(err)
	}
	public, err := s.key.Public(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.keys, _ = json.Marshal(statement.Keys{Keys: []statement.PublicKey{public}})
	s.serve(t)
	return s
}

// serve sends keys and the task. The source is not public.
func (s *stating) serve(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc(statement.KeysPath, func(w http.ResponseWriter, _ *http.Request) { w.Write(s.keys) })
	mux.HandleFunc("/tasks/vectoradd/bundle.zip", func(w http.ResponseWriter, _ *http.Request) {
		if err := tasks.WriteZip(w, s.bundle); err != nil {
			t.Error(err)
		}
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	s.said = statement.Result{Site: s.URL, Run: 7, Submission: 5, Chain: statement.Link{Number: 1}, Machine: job.Machine{Device: "CPU"},
		Task: statement.Task{Slug: "vectoradd", Version: 1, Ranking: s.bundle.Definition.RankingBy}}
}

// score has the site state what two processes said, with the interval that they give.
func (s *stating) score(t *testing.T, low, high float64) string {
	t.Helper()
	time := (low + high) / 2
	s.said.Samples = []statement.Sample{{Case: "n", Clock: job.ClockEvent, Processes: []float64{low, high}, Time: time, Calls: 100}}
	score, err := scoreOf(tasks.RankLast, job.Result{Stages: []job.StageResult{{Stage: job.StageRanked, Cases: []job.CaseResult{
		{Status: job.StatusPass, Median: time, Processes: []float64{low, high}, Clocks: job.Clocks{Counts: job.ClockEvent}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.said.Score, s.said.Task.Ranking = score, tasks.RankLast
	payload, err := statement.New(statement.Hash(s.source), catalog.MeasuredKey(s.bundle), s.said).Payload()
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.key.Sign(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(e)
	return s.file(t, "statement.json", text)
}

func (s *stating) file(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func verifyStated(t *testing.T, args ...string) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	env := console.Environment{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: io.Discard}
	err := execute(t.Context(), Result(env), args)
	if err != nil {
		out.WriteString(err.Error())
		return console.ExitCode(err), out.String()
	}
	return 0, out.String()
}

func TestVerifyResultTellsByItsExitCodeWhatDoesNotHold(t *testing.T) {
	s := newStating(t)
	file := s.score(t, 90, 110)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	forged := s.file(t, "forged.json", bytes.Replace(good, []byte(`"payload":"e`), []byte(`"payload":"f`), 1))
	other := s.file(t, "other.cpp", []byte("int main() {}"))
	s.said.Samples = nil
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"signature":          {[]string{file, "--signature-only"}, 0, "The signature is valid"},
		"forged":             {[]string{forged, "--signature-only", "--site", s.URL}, exitForged, "no signature on it"},
		"source not public":  {[]string{file}, exitUnrun, "name its files with --source"},
		"another source":     {[]string{file, "--source", other}, exitUnrun, "its SHA-256 differs"},
		"no such file":       {[]string{"16"}, 1, "16: no such file or directory. Name a file, or an address such as SITE/submissions/16"},
		"no envelope at all": {[]string{other}, 1, "no DSSE envelope"},
	} {
		if code, printed := verifyStated(t, test.args...); code != test.code || !strings.Contains(printed, test.want) {
			t.Errorf("%s: exit code %d, want %d; it printed\n%s\nwant %q", name, code, test.code, printed, test.want)
		}
	}
	s.said.Machine.Device = "H999"
	source := s.file(t, "source.cpp", s.source)
	if code, printed := verifyStated(t, s.score(t, 90, 110), "--source", source); code != exitUnrun || !strings.Contains(printed, "no device H999") {
		t.Errorf("a device that is not here: exit code %d\n%s", code, printed)
	}
}

func TestVerifyResultMeasuresAgain(t *testing.T) {
	s := newStating(t)
	source, uid := s.file(t, "source.cpp", s.source), strconv.Itoa(sandboxtest.FirstUID(t))
	for _, test := range []struct {
		low, high float64
		code      int
		want      string
	}{
		{10, 1e12, 0, "The scores agree."}, // two processes that lie so far apart say nothing against any score
		{2, 2.001, exitDisagrees, "the scores do not agree"},
	} {
		code, printed := verifyStated(t, s.score(t, test.low, test.high), "--source", source, "--first-uid", uid, "--data", data, "--ranked-processes", "1")
		if code != test.code || !strings.Contains(printed, test.want) || !strings.Contains(printed, "repeated: ") {
			t.Errorf("%v to %v: exit code %d, want %d\n%s", test.low, test.high, code, test.code, printed)
		}
	}
}

// TestVerifyResultReadsAPageAsWhoIsSignedIn: the address of a submission's page leads to the statement, with the token of warpboard login.
func TestVerifyResultReadsAPageAsWhoIsSignedIn(t *testing.T) {
	s := newStating(t)
	stated := readAt(t, s.score(t, 90, 110))
	runs := `{"id": 7, "device": "CPU"}`
	mux := http.NewServeMux()
	mux.HandleFunc(statement.KeysPath, func(w http.ResponseWriter, _ *http.Request) { w.Write(s.keys) })
	mux.HandleFunc("/api/v1/submissions/5", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer wb_kept" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, `{"id": 5, "runs": [`+runs+`]}`)
	})
	mux.HandleFunc("/api/v1/runs/7/statement", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer wb_kept" {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, stated)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!doctype html>") })
	server := httptest.NewServer(mux)
	defer server.Close()
	sites := s.file(t, "sites.toml", []byte("[sites.home]\nserver = \""+server.URL+"\"\ntoken = \"wb_kept\"\n"))
	verified := func(address string) (int, string) {
		var out bytes.Buffer
		env := console.Environment{Getenv: func(name string) string { return map[string]string{"WARPBOARD_SITES": sites}[name] }, Stdout: &out, Stderr: io.Discard}
		err := execute(t.Context(), Result(env), []string{server.URL + address, "--signature-only"})
		return console.ExitCode(err), fmt.Sprint(out.String(), err)
	}
	for _, address := range []string{"/submissions/5", "/submissions/5#run-7", "/runs/7", "/api/v1/runs/7/statement"} {
		if code, printed := verified(address); code != 0 || !strings.Contains(printed, "The signature is valid") {
			t.Errorf("%s: exit %d: %s", address, code, printed)
		}
	}
	if _, printed := verified("/tasks/sum"); !strings.Contains(printed, "/api/v1/runs/RUN/statement") {
		t.Errorf("a page without a run: %s", printed)
	}
	runs += `, {"id": 8, "device": "H200"}`
	if code, printed := verified("/submissions/5"); code != 1 || !strings.Contains(printed, server.URL+"/api/v1/runs/8/statement (H200)") {
		t.Errorf("a submission of two runs: exit %d: %s", code, printed)
	}
}

func TestATokenGoesToNoSiteThatAFileNames(t *testing.T) {
	s := newStating(t)
	asked := make(chan string, 10)
	spy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		w.Write(s.keys)
	}))
	defer spy.Close()
	s.said.Site = spy.URL
	verifyStated(t, s.score(t, 90, 110), "--token", "secret")
	close(asked)
	n := 0
	for sent := range asked {
		if n++; sent != "" {
			t.Errorf("it was sent %q", sent)
		}
	}
	if n == 0 {
		t.Error("the site was not asked")
	}
}

func TestVerifyChainChecksAnExport(t *testing.T) {
	s := newStating(t)
	keys := s.file(t, "keys.json", s.keys)
	line, err := os.ReadFile(s.score(t, 90, 110))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := console.Environment{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: io.Discard}
	if err := execute(t.Context(), Chain(env), []string{s.file(t, "chain.jsonl", line), "--key", keys}); err != nil || !strings.Contains(out.String(), "Statements 1 to 1 are complete") {
		t.Errorf("%v: %s", err, out.String())
	}
	twice := s.file(t, "twice.jsonl", append(append(line, '\n'), line...))
	err = execute(t.Context(), Chain(env), []string{twice, "--key", keys})
	if console.ExitCode(err) != exitForged {
		t.Errorf("a statement that is there twice: %v", err)
	}
	if err := execute(t.Context(), Chain(env), []string{twice}); err == nil || console.ExitCode(err) != 1 {
		t.Errorf("without a key: %v", err)
	}
}

func readAt(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
