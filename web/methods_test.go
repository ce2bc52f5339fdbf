package web_test

import (
	"testing"

	"warpboard/web/webtest"
)

func TestAWrongMethodIsAnsweredWithAllowedOnes(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.Browser()
	for request, allowed := range map[[2]string]string{
		{"DELETE", "/"}:                                       "GET, HEAD, POST",
		{"PUT", "/compare"}:                                   "GET, HEAD, POST",
		{"POST", "/compare.json"}:                             "GET, HEAD",
		{"POST", "/tasks/matmul/bundle.zip"}:                  "GET, HEAD",
		{"POST", "/tasks/matmul/boards/H200/dataset.parquet"}: "GET, HEAD",
		{"PATCH", "/submissions/1/source"}:                    "GET, HEAD",
		{"POST", "/submissions/1/runs/1/profile.ncu-rep"}:     "GET, HEAD",
		{"POST", "/devices"}:                                  "GET, HEAD",
		{"PUT", "/sign-out"}:                                  "POST",
		{"POST", "/robots.txt"}:                               "GET, HEAD",
		{"POST", "/static/x/app.css"}:                         "GET, HEAD",
		{"DELETE", "/tasks/new"}:                              "GET, HEAD, POST",
	} {
		resp := b.Send(request[0], request[1], nil)
		if resp.StatusCode != 405 || resp.Header.Get("Allow") != allowed {
			t.Errorf("%v: %s, Allow %q, want %q", request, resp.Status, resp.Header.Get("Allow"), allowed)
		}
	}
	for _, request := range [][2]string{{"POST", "/sign-out"}, {"POST", "/me/tokens"}} {
		if resp := b.Send(request[0], request[1], nil); resp.StatusCode != 403 {
			t.Errorf("%v: %s", request, resp.Status)
		}
	}
	if resp := b.Send("GET", "/nothing", nil); resp.StatusCode != 404 {
		t.Errorf("an address of nothing: %s", resp.Status)
	}
}
