package submissions_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestAComparisonBeginsWithWhatItsDataShow checks the sentences at the top of a comparison: which run is faster, in
// which cases, and what else differs.
func TestAComparisonBeginsWithWhatItsDataShow(t *testing.T) {
	s := webtest.NewComparedScene(webtest.NewProfiledScene(t))
	b := s.BrowserOf(s.Admin)
	doc := b.Page(s.Path(), http.StatusOK)
	webtest.CheckSound(t, doc)
	a, faster := s.Slow.SubmissionID, s.Fast.SubmissionID
	for _, want := range []string{
		fmt.Sprintf("#%d is 1.23× faster than #%d", faster, a), "at 99 % confidence; ",
		"geometric mean of the benchmark cases",
		fmt.Sprintf("Of 3 cases that both ran, #%d is faster in 1, by 2.34× (m: 1024", faster),
		"slower in 1, by 1.25× (m: 3072", "no clear difference in 1",
		"Conditions differ, which may explain part of the difference: driver 570.86.15 → 580.12; SM clock 1980 MHz → 1200–1980 MHz.",
	} {
		webtest.WantText(t, doc, "[data-findings]", want)
	}
	if n := doc.Find(".pf-dumbbells circle, .pf-dumbbells .pf-whisker").Length(); n != 6 {
		t.Errorf("%d dots and intervals of three cases", n)
	}
	webtest.WantText(t, doc, "#times table", "Geometric mean")
	webtest.WantText(t, doc, ".pf-why",
		fmt.Sprintf("#%d keeps the tensor cores busy for 94.9 %% of the cycles; #%d does not use them.", faster, a))
	if doc.Find(".pf-why li").Length() != 3 || doc.Find("#rooflines .pf-arrow").Length() != 1 ||
		doc.Find(".pf-overlays path").Length() != 6 {
		t.Error("the reasons, the arrow between the two on a roofline, or the repeats of the cases are missing")
	}
	if open := doc.Find("#code[open], #sass[open], #profile[open], #profile details[open]").Length(); open > 0 ||
		doc.Find("#sass").Length() != 1 {
		t.Errorf("%d tables begin open", open)
	}
	lin, err := s.Cfg.Store.Accounts.User(t.Context(), s.Fast.UserID)
	if err != nil {
		t.Fatal(err)
	}
	again := s.Judged(lin, webtest.SlowKernel, "580.12", "1200–1980 MHz, 1980 at the start, 1755 at the end", "tri/0",
		0.428, 1.001, 0.525)
	same := b.Page(fmt.Sprintf("/compare?a=%d&b=%d", s.Fast.ID, again.ID), http.StatusOK)
	webtest.WantText(t, same, "[data-findings]", "Both ran the same source")
	webtest.WantText(t, same, "[data-findings]",
		"Conditions are the same: the same H200, the same software, clocks within 2 %.")
	unsure := b.Page(fmt.Sprintf("/compare?a=%d&b=%d", s.First.ID, s.Second.ID), http.StatusOK)
	webtest.WantText(t, unsure, "[data-findings]", "No clear difference")
	if unsure.Find(".pf-why").Length() > 0 {
		t.Error("it is said why a run is faster of which nothing shows that it is")
	}
	webtest.WantText(t, unsure, "[data-findings]",
		fmt.Sprintf("#%d took 1.30× the time of #%d", s.Second.SubmissionID, s.First.SubmissionID))
	var answer struct {
		Ratio struct {
			Value, Low, High float64
			Apart            bool
		}
		Because struct{ Causes []struct{ Key string } }
	}
	webtest.DecodeBody(t, b.Get(fmt.Sprintf("/compare.json?a=%d&b=%d", s.Slow.ID, s.Fast.ID)), &answer)
	if r := answer.Ratio; !r.Apart || !(r.Low < r.Value && r.Value < r.High && r.High < 1) {
		t.Errorf("the same for programs: %+v", r)
	}
	if list := answer.Because.Causes; len(list) < 3 || list[0].Key != "tensor" {
		t.Errorf("programs get the causes %+v", list)
	}
}

// TestAVerdictNamesWhoIsAheadOnTheBoard checks that a comparison mentions the scores on the board if they differ
// clearly and the times of the two runs do not.
func TestAVerdictNamesWhoIsAheadOnTheBoard(t *testing.T) {
	s := &webtest.ComparedScene{ProfiledScene: webtest.NewProfiledScene(t)}
	lin, mia := modelstest.Person(t, s.Cfg.Store, "Lin Chen", accounts.RoleUser),
		modelstest.Person(t, s.Cfg.Store, "Mia", accounts.RoleUser)
	first := s.Judged(lin, webtest.GoodKernel, "570.86.15", "1980 MHz", "tri/0", 1, 1, 1)
	other := s.Judged(mia, webtest.SlowKernel, "570.86.15", "1980 MHz", "tri/0", 1, 1, 1)
	path := fmt.Sprintf("/compare?a=%d&b=%d", other.ID, first.ID)
	if s.BrowserOf(s.Admin).Page(path, http.StatusOK).Find("[data-ahead]").Length() > 0 {
		t.Error("one is ahead although both scores are those of the runs")
	}
	// as a confirmation may change it
	s.SQL(fmt.Sprintf("update runs set score_ns = score_ns / 2 where id = %d", first.ID))
	doc := s.BrowserOf(s.Admin).Page(path, http.StatusOK)
	webtest.WantText(t, doc, "[data-findings]", "No clear difference")
	webtest.WantText(t, doc, "[data-ahead]",
		fmt.Sprintf("By their scores on the board, #%d is clearly ahead: ", first.SubmissionID))
	webtest.WantText(t, doc, "#times", "here they have 99 %, because people compare many pairs")
}

// TestAProfileSetsItsKernelsBesideTheRankedTime checks that a profile shows the times of its kernels next to the time
// of the case in the ranked run, which is slightly longer.
func TestAProfileSetsItsKernelsBesideTheRankedTime(t *testing.T) {
	s := webtest.NewComparedScene(webtest.NewProfiledScene(t))
	for _, c := range []struct {
		run          work.Run
		kernel, took string
	}{{s.Slow, "416.4 µs", "421.6 µs"}, {s.Fast, "175.9 µs", "180.4 µs"}} {
		doc := s.Browser().Page(webtest.ProfilePath(c.run), http.StatusOK)
		webtest.WantText(t, doc, ".pf-kernels caption", "One kernel on NVIDIA H200. The case took "+c.took+
			" in the ranked run.")
		webtest.WantText(t, doc, ".pf-kernels tbody tr", c.kernel)
		webtest.WantText(t, doc, "[data-score]", "geometric mean of the benchmark cases")
	}
	webtest.WantText(t, s.Browser().Page(webtest.ProfilePath(s.Second), http.StatusOK), ".pf-kernels caption",
		"2 kernels on NVIDIA H200, in launch order: 206.8 µs in all under the profiler")
}

// TestAComparisonOfWhatCannotBeComparedEnds checks that a comparison of runs without a common case has only a sentence
// that says so, and no empty charts.
func TestAComparisonOfWhatCannotBeComparedEnds(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	doc := s.BrowserOf(s.Ada).Page(fmt.Sprintf("/compare?a=%d&b=%d", s.Done.ID, s.Failed.ID), http.StatusOK)
	if message := webtest.Words(doc.Find(
		"[data-findings]")); message != "The two runs have no timed case in common, so their speeds cannot be compared." {
		t.Errorf("it says %q", message)
	}
	if doc.Find("#times, #profile, [data-no-profile]").Length() > 0 {
		t.Error("there are panels without content")
	}
	if times := doc.Find(".pf-side time[data-time]").Length(); times != 2 {
		t.Errorf("%d sides say when in the reader's time zone", times)
	}
}

// TestTheBoardShowsTheHistoryOfItsRecord checks that a record in the board's history opens an explanation, from both
// profiles, why it is faster than the previous record.
func TestTheBoardShowsTheHistoryOfItsRecord(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	compared := &webtest.ComparedScene{ProfiledScene: s}
	lin := modelstest.Person(t, s.Cfg.Store, "Lin Chen", accounts.RoleUser)
	compared.Judged(lin, webtest.GoodKernel, "570.86.15", "1980 MHz", "cuda4/1", 0.001, 0.001, 0.001)
	fast := compared.Judged(lin, webtest.SlowKernel, "570.86.15", "1980 MHz", "tri/0", 0.0005, 0.0005, 0.0005)
	w := s.Window()
	w.Visit("/tasks/" + s.Task.Slug + "/boards/H200")
	w.Click(".picture > details > summary")
	story := fmt.Sprintf("[data-story='%d']", fast.ID)
	w.Click(story + " summary")
	w.Shows(story+" [data-findings]", "faster than")
	w.Shows(story+" [data-findings]", "keeps the tensor cores busy")
}
