package web_test

import (
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/web/webtest"
)

func TestTheAPISaysItsVersion(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for _, test := range []struct {
		method, path string
		headers      []string
	}{
		{"GET", "/api/v1/tasks", nil}, {"GET", "/api/v1/tasks/none", nil}, {"GET", "/api/v1/nothing", nil},
		{"GET", "/api/v1/me", []string{"Authorization", "Bearer wb_wrong"}},
		{"POST", "/api/v1/submissions", nil}, {"POST", "/evaluate", nil}, {"POST", "/", nil}, {"GET", "/health", nil},
		{"POST", "/mcp", nil},
		{"POST", "/api/v1/submissions", []string{"Content-Encoding", "gzip"}},
	} {
		resp, err := s.Send(t.Context(), test.method, test.path, webtest.Object{}, test.headers...)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get(client.VersionHeader); got != "test" {
			t.Errorf("%s %s answers %s with version %q", test.method, test.path, resp.Status, got)
		}
	}
	if exposed := s.Browser().Get("/api/v1/tasks").Header.Get("Access-Control-Expose-Headers"); !strings.Contains(
		exposed, client.VersionHeader) {
		t.Errorf("scripts of other sites see %q", exposed)
	}
}
