package web_test

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/models/accounts"
	"warpboard/models/files"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

// missing returns the names of the parts that /readyz reports as not ready, or nil if the site is ready.
func missing(t *testing.T, b *webtest.Browser) []string {
	t.Helper()
	var answer struct {
		Status  string
		Missing map[string]string
	}
	resp := b.Get("/readyz")
	ready := resp.StatusCode == http.StatusOK
	if webtest.DecodeBody(t, resp, &answer); ready != (answer.Status == "ready") ||
		ready != (len(answer.Missing) == 0) {
		t.Errorf("%s with %+v", resp.Status, answer)
	}
	for what, text := range answer.Missing {
		if !strings.HasSuffix(text, ".") || strings.Contains(text, "secret") {
			t.Errorf("%s: %q", what, text)
		}
	}
	return slices.Sorted(maps.Keys(answer.Missing))
}

func TestReadyTellsWhatIsMissing(t *testing.T) {
	q, stopping := &webtest.SickQueue{}, false
	s := webtest.Start(t, func(c *web.Config) { c.Queue, c.IsStopping = q, func() bool { return stopping } })
	b := s.Browser()
	want := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, missing(t, b)); diff != "" {
			t.Errorf("missing (-want +got):\n%s", diff)
		}
	}
	beat := func(h job.Heartbeat) {
		t.Helper()
		h.Worker, h.WorkerStartedAt = "w1", time.Now()
		if err := s.Cfg.Store.Fleet.SaveHeartbeat(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	want("slots")
	beat(job.Heartbeat{Slots: []job.Slot{{Device: "CPU", DisabledReason: "ECC errors"}}})
	want("slots")
	beat(job.Heartbeat{Slots: []job.Slot{{Device: "CPU"}}, NoJobsReason: "The sandbox failed."})
	want("slots")
	beat(job.Heartbeat{Slots: []job.Slot{{Device: "CPU"}}})
	want()
	q.Err = errors.New("JetStream said something secret")
	want("queue")
	stopping = true
	want("queue", "site")
	stopping = false
	webtest.WantStatus(t, b.Get("/healthz"), http.StatusOK)
	if text := webtest.Body(t, b.Get("/metrics")); !strings.Contains(text, "warpboard_queue_dropped_messages_total 7") {
		t.Error("the metrics do not count dropped messages")
	}
	if err := s.Cfg.Store.Close(); err != nil {
		t.Fatal(err)
	}
	want("database", "queue", "slots")
}

func TestNothingIsSubmittedWhileTheDiskIsNearlyFull(t *testing.T) {
	disk := sandboxtest.Disk(t, "4m")
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.Store.Disk = files.SpaceMonitor{Dir: disk, MinFreeBytes: 2 << 20} })
	modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator), "vectoradd",
		"CPU")
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	submit := func(path, body string) *http.Response {
		return s.Browser().Send(http.MethodPost, path, strings.NewReader(body), "Content-Type", "application/json",
			"Authorization", "Bearer "+s.Token)
	}
	const submission = `{"task": "vectoradd", "source": "int main;"}`
	resp := submit("/api/v1/submissions", submission)
	if wait := resp.Header.Get("Retry-After"); wait != "60" {
		t.Errorf("Retry-After is %q", wait)
	}
	webtest.WantProblem(t, resp, http.StatusServiceUnavailable, "disk_full")
	resp = submit("/evaluate", `{"kernel": {"kernel_type": "torch", "source_code": "import torch"}}`)
	if text := webtest.Body(t, resp); resp.StatusCode != http.StatusServiceUnavailable ||
		!strings.Contains(text, "the minimum is 2 MiB") {
		t.Errorf("an evaluation: %s %s", resp.Status, text)
	}
	author := s.SignedIn("Author", accounts.RoleCreator)
	for _, path := range []string{"/tasks/publish", "/tasks/new/cpp", "/tasks/vectoradd/edit", "/tasks/vectoradd/files",
		"/tasks/vectoradd/trial",
		"/tasks/vectoradd/trial/publish", "/tasks/vectoradd/publish"} {
		if resp := author.Post(path, url.Values{}); resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("a task at %s: %s", path, resp.Status)
		}
	}
	resp = submit("/api/v1/tasks/another", "{}")
	webtest.WantProblem(t, resp, http.StatusServiceUnavailable, "disk_full")
	if diff := cmp.Diff([]string{"disk"}, missing(t, s.Browser())); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if resp := submit("/api/v1/submissions", submission); resp.StatusCode >= 300 {
		t.Errorf("with room again: %s %s", resp.Status, webtest.Body(t, resp))
	}
}
