package operation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/fleet"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestAnAddressWithAModelLeadsToItsDevice requests a GPU model without form factor or memory ("H100"). Pages redirect
// to the first matching device, the API only if exactly one matches.
func TestAnAddressWithAModelLeadsToItsDevice(t *testing.T) {
	s := webtest.NewScene(t)
	if _, err := s.Cfg.Store.Fleet.RecordDevices(t.Context(),
		[]fleet.Device{{Label: "H100-PCIe"}, {Label: "H100-SXM"}, {Label: "A100-SXM-40GB"}}); err != nil {
		t.Fatal(err)
	}
	modelstest.Task(t, s.Cfg.Store, s.Admin, "family", "H100", "A100")
	b := s.Browser()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]string{
		"/tasks/family/boards/H100?page=2":        "/tasks/family/boards/H100-PCIe?page=2",
		"/tasks/family/boards/a100":               "/tasks/family/boards/A100-SXM-40GB",
		"/api/v1/boards/family/A100?version=1":    "/api/v1/boards/family/A100-SXM-40GB?version=1",
		"/api/v1/boards/family/H100":              "404",
		"/tasks/family/boards/H200":               "404",
		"/tasks/family/boards/H100-SXM?version=1": "200",
		"/tasks/family/boards/h100-sxm":           "/tasks/family/boards/H100-SXM",
		"/api/v1/boards/family/h100-sxm?page=1":   "/api/v1/boards/family/H100-SXM?page=1",
	} {
		resp := b.Get(path)
		webtest.Body(t, resp)
		if got := resp.Header.Get("Location"); got != want && resp.Status[:3] != want {
			t.Errorf("%s answers %s and leads to %q, want %s", path, resp.Status, got, want)
		}
	}
}

// TestASubmissionMayNameTheFamilyOfItsOnlyDevice checks that "A100" is accepted if the task has one such device. If
// several match, the error lists them.
func TestASubmissionMayNameTheFamilyOfItsOnlyDevice(t *testing.T) {
	s := webtest.NewScene(t)
	if _, err := s.Cfg.Store.Fleet.RecordDevices(t.Context(),
		[]fleet.Device{{Label: "H100-PCIe"}, {Label: "H100-SXM"}, {Label: "A100-SXM-40GB"}}); err != nil {
		t.Fatal(err)
	}
	task := modelstest.Task(t, s.Cfg.Store, s.Admin, "family", "H100", "A100")
	b := s.BrowserOf(s.Ada)
	submit := func(device string) *http.Response {
		return b.Upload("/tasks/"+task.Slug+"/submit", "file", "a.cpp", []byte("int main() {}"),
			url.Values{"device": {device}, "mode": {"test"}})
	}
	text := webtest.Body(t, submit("H100"))
	if !strings.Contains(text, "H100 matches several devices here: choose H100-PCIe or H100-SXM.") {
		t.Errorf("the refusal is not told:\n%s", text)
	}
	webtest.Body(t, submit("A100"))
	queue, err := s.Cfg.Store.Work.WaitingQueue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, q := range queue {
		found = found || q.Device == "A100-SXM-40GB" && q.UserID == s.Ada.ID
	}
	if !found {
		t.Errorf("the queue has no run of A100-SXM-40GB: %+v", queue)
	}
}
