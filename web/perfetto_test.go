package web

import (
	"fmt"
	"net/http"
	"testing"
)

// A frame stands for Perfetto's window: the trace goes to who answers from Perfetto's origin, and not to others.
func TestATimelineIsSentOnlyToPerfetto(t *testing.T) {
	s := newProfiledScene(t)
	w := s.window().as(s.browserOf(s.admin))
	w.open(submissionPath(s.second))
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
	w.refusedNothing()
}

func TestAProfileIsHeldAgainstAPinnedRun(t *testing.T) {
	s := newComparedScene(newProfiledScene(t))
	b := s.browserOf(s.admin)
	path := href(t, b.page(s.path(), http.StatusOK), "A's profile, B as baseline")
	if want := fmt.Sprintf("%s?case=0&pin=%d", profilePath(s.slow), s.fast.ID); path != want {
		t.Errorf("the comparison leads to %s, want %s", path, want)
	}
	doc := b.page(path, http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "[data-pinned]", fmt.Sprintf("Ticks are #%d by Lin Chen: nvjet", s.fast.SubmissionID))
	if doc.Find("#sol .pf-pin").Length() != 5 || doc.Find(fmt.Sprintf("option[value='%d'][selected]", s.fast.ID)).Length() != 1 {
		t.Error("bars have no ticks, or the form forgot what is pinned")
	}
	kept := doc.Find(".pf-rail .pf-cases a").Last().AttrOr("href", "")
	wantText(t, b.page(kept, http.StatusOK), "[data-pinned]", "Ticks are") // another case keeps the baseline
	unprofiled := b.page(fmt.Sprintf("%s?pin=%d", profilePath(s.slow), s.refused.ID), http.StatusOK)
	wantText(t, unprofiled, "[data-pinned]", "has no profile of this case: The driver refused access")
	wantStatus(t, b.get(profilePath(s.slow)+"?pin=999999"), http.StatusNotFound)
}
