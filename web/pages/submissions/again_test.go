package submissions_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestASpoiledRunIsRunAgainByItsOwner checks that a disturbed run, or one that failed because of the site, can be run
// again once, with the same source, device, and mode.
func TestASpoiledRunIsRunAgainByItsOwner(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	offers := func(b *webtest.Browser, run work.Run) int {
		return b.Page(webtest.SubmissionPath(run), http.StatusOK).Find("[data-again]").Length()
	}
	if offers(b, s.Done)+offers(b, s.Failed) != 0 {
		t.Error("runs that say something of the kernel can be run again")
	}
	s.SQL("update runs set disturbed = 'the GPU was at 83 °C and slowed down to 1,200 MHz' where id = $1", s.Done.ID)
	s.SQL(`update runs set failure = '{"reason": "The worker rack-7 was lost.", "ours": true}' where id = $1`,
		s.Failed.ID)
	if offers(s.Browser(), s.Done)+offers(s.BrowserOf(s.Admin), s.Failed) != 0 {
		t.Error("others can run it again")
	}
	for _, run := range []work.Run{s.Done, s.Failed} {
		form := b.Page(webtest.SubmissionPath(run), http.StatusOK).Find("[data-again]")
		for range 2 {
			resp := b.Post(form.AttrOr("action", ""), webtest.Fields(form))
			again := s.Newest(s.Ada)
			if resp.Request.URL.Path != webtest.SubmissionPath(again) || again.SubmissionID == run.SubmissionID {
				t.Errorf("the button leads to %s", resp.Request.URL)
			}
			if again.Device != run.Device || again.Mode != run.Mode {
				t.Errorf("run %d on %s in mode %s became one on %s in mode %s", run.ID, run.Device, run.Mode,
					again.Device, again.Mode)
			}
			source := func(run work.Run) string {
				return webtest.Body(t, b.Get(webtest.SubmissionPath(run)+"/source"))
			}
			if source(again) != source(run) {
				t.Error("the source is another one")
			}
		}
	}
}

// TestASpoiledRunIsRunAgainInTheWorkbench checks that running a disturbed run again keeps the workbench open.
func TestASpoiledRunIsRunAgainInTheWorkbench(t *testing.T) {
	s := webtest.NewScene(t)
	s.SQL("update runs set disturbed = 'the GPU was at 83 °C and slowed down to 1,200 MHz' where id = $1", s.Done.ID)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, fmt.Sprintf("?run=%d", s.Done.SubmissionID))
	w.LooksRight("bench-again")
	w.Eval(`document.querySelector("#bench-run [data-again] button").click()`)
	w.Until(fmt.Sprintf(`document.querySelector("#bench-run [data-submission]")?.dataset.submission > %d`,
		s.Queued.SubmissionID))
	w.Until(fmt.Sprintf(`location.pathname == "/tasks/%s/solve"`, s.Task.Slug))
	w.RefusedNothing()
}
