package api_test

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestAnETagIsTheSamePackedOrNot(t *testing.T) {
	s := webtest.NewEvalSite(t)
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator), "sort",
		"CPU")
	modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, s.User, task)[0], 5000)
	for _, path := range []string{"/api/v1/boards/sort/CPU", "/tasks/sort/boards/CPU/records.atom"} {
		tags := map[string]string{}
		for _, encoding := range []string{"gzip", "identity"} {
			resp, err := s.Send(t.Context(), "GET", path, nil, "Accept-Encoding", encoding)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			tags[encoding] = resp.Header.Get("ETag")
		}
		tag := tags["gzip"]
		if tag != tags["identity"] || !strings.HasPrefix(tag, `W/"`) {
			t.Errorf("%s: answers that differ byte by byte have the tags %v, which are not weak", path, tags)
		}
		for _, known := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag} {
			resp, err := s.Send(t.Context(), "GET", path, nil, "If-None-Match", known)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusNotModified {
				t.Errorf("%s for %s: %s", path, known, resp.Status)
			}
		}
	}
}
