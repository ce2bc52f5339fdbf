package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestASubmissionIsReadInEquallyManyStatementsForAllItsRuns checks that reading a submission to five devices needs no
// more SQL statements than one to a single device: as a page, over the API, and over popcorn-cli's API. MCP tools use
// the API.
func TestASubmissionIsReadInEquallyManyStatementsForAllItsRuns(t *testing.T) {
	s := webtest.NewScene(t)
	store := s.Cfg.Store
	token, _, err := store.Accounts.CreateToken(t.Context(), s.Ada.ID, "cost", 0)
	modelstest.Check(t, err)
	ends := func(list []work.Run, ns float64) {
		for _, run := range list {
			s.Finish(run, ns)
		}
	}
	costs := func(submission int64) map[string]int64 {
		asked := map[string]int64{}
		for name, path := range map[string]string{"API": "/api/v1/submissions/%d", "popcorn": "/popcorn/user/submissions/%d"} {
			ask := func() { webtest.WantStatus(t, s.Ask("GET", fmt.Sprintf(path, submission), token, ""), http.StatusOK) }
			ask() // the first request also reads data that the site then caches
			before := store.QueryCount()
			ask()
			asked[name] = store.QueryCount() - before
		}
		b := s.BrowserOf(s.Ada)
		b.Page(fmt.Sprintf("/submissions/%d", submission), http.StatusOK)
		before := store.QueryCount()
		b.Page(fmt.Sprintf("/submissions/%d", submission), http.StatusOK)
		asked["page"] = store.QueryCount() - before
		return asked
	}
	devices := []string{"H200", "CPU", "A100", "B200", "L4"}
	few := modelstest.Task(t, store, s.Admin, "one-device", devices[:1]...)
	many := modelstest.Task(t, store, s.Admin, "five-devices", devices...)
	most := map[string]int64{"API": 10, "page": 9, "popcorn": 11}
	for _, state := range []string{"waiting", "ended", "ended, after another"} {
		one, five := modelstest.Submit(t, store, s.Ada, few), modelstest.Submit(t, store, s.Ada, many)
		if state != "waiting" {
			ends(one, 1000)
			ends(five, 1000)
		}
		of1, of5 := costs(one[0].SubmissionID), costs(five[0].SubmissionID)
		for form, asked := range of5 {
			if asked != of1[form] || asked > most[form] {
				t.Errorf("%s: the %s of one run asks %d statements, of five %d; want equally many, and at most %d",
					state, form, of1[form], asked, most[form])
			}
			t.Logf("%s, %s: %d", state, form, asked)
		}
	}
}
