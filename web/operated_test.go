package web_test

import (
	"fmt"
	"net/http"
	"net/url"

	"warpboard/web/webtest"
)

// operated changes the site so that all parts of the admins' pages have content: evaluations that are off, budgets,
// teams, tokens, a reported run, and a paused device.
func operated(s *webtest.ProfiledScene) {
	s.T.Helper()
	admin := s.BrowserOf(s.Admin)
	for _, form := range []struct {
		path   string
		fields url.Values
	}{
		{"/operate/off", url.Values{"what": {"evaluations"}, "why": {"The machines are being moved; back on Monday."}}},
		{"/operate/budgets", url.Values{"seconds": {"3600"}}},
		{"/operate/budgets", url.Values{"person": {s.Ada.Name}, "seconds": {"600"}}},
		{"/operate/teams", url.Values{"team": {"Kernels"}, "person": {s.Ada.Name}, "seconds": {"5000"}}},
		{"/operate/tokens", url.Values{"name": {"spot-machines"}, "devices": {"CPU, H200"}, "most": {"8"},
			"days": {"30"}}},
		{"/devices/CPU/pause", url.Values{"why": {"Its fan is being replaced."}}},
		{"/workers", url.Values{"name": {"rack-9"}, "devices": {"H200"}}},
		{fmt.Sprintf("/runs/%d/report", s.Second.ID),
			url.Values{"reason": {"Line 14 keeps the answer of the call before and returns it when the pointers are the same."}}},
		{fmt.Sprintf("/runs/%d/disqualify", s.First.ID),
			url.Values{"reason": {"It reads the answers of the tests from the harness's memory."}}},
	} {
		if resp := admin.Post(form.path, form.fields); resp.StatusCode != http.StatusOK {
			s.T.Errorf("%s answers %s", form.path, resp.Status)
		}
	}
}
