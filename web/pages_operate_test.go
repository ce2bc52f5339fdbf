package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"warpboard/models/modelstest"
)

// TestAdminsSwitchOffAndLetWorkersJoinAndNobodyElseDoes through the page alone.
func TestAdminsSwitchOffAndLetWorkersJoinAndNobodyElseDoes(t *testing.T) {
	s := newScene(t)
	admin, ada := s.browserOf(s.admin), s.browserOf(s.ada)
	wantStatus(t, ada.get("/operate"), http.StatusForbidden)
	wantStatus(t, ada.post("/operate/off", url.Values{"what": {"submissions"}, "why": {"x"}}), http.StatusForbidden)
	wantStatus(t, ada.post("/operate/tokens", url.Values{"name": {"x"}, "devices": {"CPU"}, "most": {"1"}, "days": {"1"}}), http.StatusForbidden)
	if text := body(t, admin.get("/devices")); !strings.Contains(text, `href="/operate"`) {
		t.Error("no page leads to /operate")
	}
	wantStatus(t, admin.post("/operate/off", url.Values{"what": {"submissions"}, "why": {""}}), http.StatusUnprocessableEntity)
	wantStatus(t, admin.post("/operate/off", url.Values{"what": {"submissions"}, "why": {"We <move> the machines."}}), http.StatusOK)
	if text := body(t, admin.get("/operate")); !strings.Contains(text, "We &lt;move&gt; the machines.") || !strings.Contains(text, `data-off="submissions"`) {
		t.Errorf("the page does not say what is off:\n%s", text)
	}
	wantStatus(t, admin.post("/operate/on", url.Values{"what": {"submissions"}}), http.StatusOK)
	modelstest.Submit(t, s.Store, s.ada, s.task)

	made := body(t, admin.post("/operate/tokens", url.Values{"name": {"spot"}, "devices": {"CPU, H200"}, "most": {"2"}, "days": {"7"}}))
	token := regexp.MustCompile(`wbj_[\w-]+`).FindString(made)
	if _, ok, err := s.Store.AuthorizeWorker(t.Context(), "spot-1", token+".AAAAAAAAAAAAAAAAAAAA"); !ok || err != nil {
		t.Fatalf("the token %q on the page lets nobody in: %v\n%s", token, err, made)
	}
	text := body(t, admin.get("/operate"))
	if strings.Contains(text, token) || !strings.Contains(text, "1 of 2") {
		t.Errorf("the page shows the token again, or not who joined:\n%s", text)
	}
	revoke := regexp.MustCompile(`/operate/tokens/\d+/revoke`).FindString(text)
	wantStatus(t, admin.post(revoke, nil), http.StatusOK)
	if _, ok, _ := s.Store.AuthorizeWorker(t.Context(), "spot-1", "AAAAAAAAAAAAAAAAAAAA"); ok {
		t.Error("a worker of a revoked token is let in")
	}
}
