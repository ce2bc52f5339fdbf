package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"warpboard/web/webtest"
)

func TestEveryAddressOfAnEvaluationIsTried(t *testing.T) {
	s := webtest.NewEvalSite(t)
	var tried []string
	for _, path := range webtest.Readings(":id") {
		path, _, _ = strings.Cut(path, "?")
		tried = append(tried, path)
	}
	for _, r := range s.App().GetRoutes(true) {
		about := strings.HasPrefix(r.Path, "/job/") || strings.Contains(r.Path, "evaluations/:id")
		if r.Method == http.MethodGet && about && !slices.Contains(tried, r.Path) {
			t.Errorf("no one looks whether strangers can read at %s", r.Path)
		}
	}
}
