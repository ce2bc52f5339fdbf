package submissions_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/web/webtest"
)

// TestATimelineIsSentOnlyToPerfetto checks that the page sends a timeline only to a window that answers from Perfetto's
// origin. An iframe stands for the window.
func TestATimelineIsSentOnlyToPerfetto(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit(webtest.SubmissionPath(s.Second))
	w.Eval(`(() => { window.sent = []; document.body.append(document.createElement("iframe")); window.fake = document.querySelector("iframe").contentWindow;
		fake.postMessage = (message, to) => sent.push([message, to]); window.open = (address) => address == "https://ui.perfetto.dev" && fake;
		document.querySelector("[data-perfetto]:not([hidden])").click(); })()`)
	w.Until(`sent.length > 1 && sent.every(([message, to]) => message == "PING" && to == "https://ui.perfetto.dev")`)
	answer := `dispatchEvent(new MessageEvent("message", {data: "PONG", origin: %q, source: fake}))`
	w.Eval(fmt.Sprintf(answer, "https://perfetto.example"))
	w.Eval(`window.asked = sent.length`)
	w.Until(`sent.length > asked && sent.every(([message]) => message == "PING")`)
	w.Eval(fmt.Sprintf(answer, "https://ui.perfetto.dev"))
	w.Until(`sent.at(-1)[1] == "https://ui.perfetto.dev" && sent.at(-1)[0].perfetto && new TextDecoder().decode(sent.at(-1)[0].perfetto.buffer).includes("traceEvents")`)
	w.RefusedNothing()
}

func TestAProfileIsHeldAgainstAPinnedRun(t *testing.T) {
	s := webtest.NewComparedScene(webtest.NewProfiledScene(t))
	b := s.BrowserOf(s.Admin)
	path := webtest.Href(t, b.Page(s.Path(), http.StatusOK),
		fmt.Sprintf("Profile of #%d with #%d as baseline", s.Fast.SubmissionID, s.Slow.SubmissionID))
	if want := fmt.Sprintf("%s?case=0&pin=%d", webtest.ProfilePath(s.Fast), s.Slow.ID); path != want {
		t.Errorf("the comparison leads to %s, want %s", path, want)
	}
	doc := b.Page(path, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-pinned]",
		fmt.Sprintf("Ticks are #%d by Lin Chen: matmul_naive", s.Slow.SubmissionID))
	if doc.Find("#sol .pf-pin").Length() != 5 ||
		doc.Find(fmt.Sprintf("option[value='%d'][selected]", s.Slow.ID)).Length() != 1 {
		t.Error("bars have no ticks, or the form forgot what is pinned")
	}
	kept := doc.Find(".pf-rail .pf-cases a").Last().AttrOr("href", "")
	// the link to another case keeps the baseline
	webtest.WantText(t, b.Page(kept, http.StatusOK), "[data-pinned]", "Ticks are")
	unprofiled := b.Page(fmt.Sprintf("%s?pin=%d", webtest.ProfilePath(s.Slow), s.Refused.ID), http.StatusOK)
	webtest.WantText(t, unprofiled, "[data-pinned]", "has no profile of this case: The driver refused access")
	webtest.WantStatus(t, b.Get(webtest.ProfilePath(s.Slow)+"?pin=999999"), http.StatusNotFound)
}
