package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestErrorsOfFilesAreProblems checks that programs that request a file get errors as problem documents, not as pages.
// For paths that end in .json browsers get them, too.
func TestErrorsOfFilesAreProblems(t *testing.T) {
	s := webtest.NewEvalSite(t)
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator), "sort",
		"CPU")
	run := modelstest.Submit(t, s.Cfg.Store, s.User, task)[0]
	profile := fmt.Sprintf("/submissions/%d/runs/%d/profile", run.SubmissionID, run.ID)
	const page = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, test := range []struct {
		path, accept, kind string
	}{
		{profile + ".json", "", "application/problem+json"},
		{profile + ".json", page, "application/problem+json"},
		{"/compare.json?a=1&b=77", page, "application/problem+json"},
		{"/runs/77/trace.json", page, "application/problem+json"},
		{profile + ".txt", "", "application/problem+json"},
		{profile + ".txt", page, "text/html"},
		{profile + ".ncu-rep", "*/*", "application/problem+json"},
		{"/tasks/sort/boards/CPU/dataset.parquet", "*/*", "application/problem+json"},
		{"/tasks/sort/boards/CPU/dataset.parquet", page, "text/html"},
		{"/tasks/none", "*/*", "text/html"},
		{"/tasks/none", "application/json", "application/problem+json"},
	} {
		resp, err := s.Send(t.Context(), http.MethodGet, test.path, nil, "Accept", test.accept)
		if err != nil {
			t.Fatal(err)
		}
		text := webtest.Body(t, resp)
		resp.Body.Close()
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode < 400 || !strings.HasPrefix(kind, test.kind) {
			t.Errorf("%s for %q: %s as %s, want %s\n%.200s", test.path, test.accept, resp.Status, kind, test.kind, text)
		}
	}
}
