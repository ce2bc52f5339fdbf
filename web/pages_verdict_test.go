package web

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// comparedScene is a profiled scene with two runs that a judge timed in fresh processes, on machines that differ.
type comparedScene struct {
	*profiledScene
	slow, fast work.Run
}

func newComparedScene(profiled *profiledScene) *comparedScene {
	s := &comparedScene{profiledScene: profiled}
	lin := modelstest.Person(s.t, s.site.Store, "Lin Chen", accounts.RoleUser)
	s.slow = s.judged(lin, goodKernel, "570.86.15", "1980 MHz", "cuda4/1", 1, 1, 1)
	s.fast = s.judged(lin, slowKernel, "580.12", "1200–1980 MHz, 1980 at the start, 1755 at the end", "tri/0", 0.6, 1.001, 1.25)
	return s
}

func (s *comparedScene) path() string { return fmt.Sprintf("/compare?a=%d&b=%d", s.slow.ID, s.fast.ID) }

// judged ends a run whose cases took so many times their usual time, each in five fresh processes, and its profile.
func (s *comparedScene) judged(user accounts.User, source, driver, clock, report string, factors ...float64) work.Run {
	s.t.Helper()
	run := s.submit(user, "H200", source)
	attempt := s.attempt(run)
	cases := s.repeated(12e3)
	for i := range cases {
		c := &cases[i]
		c.Clocks, c.Median, c.Processes = job.Clocks{Counts: job.ClockEvent}, c.Mean*factors[i], nil
		for k := range c.Times {
			c.Times[k] *= factors[i]
		}
		for k := range 5 {
			c.Processes = append(c.Processes, c.Median*(1+0.002*float64(k-2)))
		}
	}
	score, err := harness.Score("geom", cases)
	if err != nil {
		s.t.Fatal(err)
	}
	at := time.Now().UTC()
	result := job.Result{RunID: run.ID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeDone, Harness: "warpboard/cu",
		Stages: []job.StageResult{{Stage: job.StageBuild, Status: job.StatusPass, Started: at, Ended: at}, {Stage: job.StageRanked, Status: job.StatusPass, Started: at, Ended: at, Cases: cases}},
		Machine: job.Machine{Worker: "rack-7", Device: "H200", Name: "NVIDIA H200", UUIDHash: "5f1c09d2ab34", Driver: driver,
			CUDA: "12.8", Compiler: "nvcc 12.8.93", Sandbox: "bubblewrap", Conditions: map[string]string{"sm_clock": clock}}}
	s.profilingWorker()
	if _, err := s.site.Store.Work.RecordResult(context.Background(), result, work.Findings{Score: &work.Score{NS: score}}); err != nil {
		s.t.Fatal(err)
	}
	s.profile(run, report)
	return run
}

// TestAComparisonBeginsWithWhatItsDataShow: which is faster, where, and what else differs, each in a sentence.
func TestAComparisonBeginsWithWhatItsDataShow(t *testing.T) {
	s := newComparedScene(newProfiledScene(t))
	b := s.browserOf(s.admin)
	doc := b.page(s.path(), http.StatusOK)
	checkSound(t, doc)
	a, faster := s.slow.SubmissionID, s.fast.SubmissionID
	for _, want := range []string{
		fmt.Sprintf("#%d is 1.100× faster than #%d (1.091× to 1.109× at 99 %%; ", faster, a), "geometric mean of the benchmark cases",
		fmt.Sprintf("Of 3 cases that both ran, #%d is faster in 1 (most at m: 1024", faster), "slower in 1 (most at m: 3072", "the data show no difference in 1",
		"Conditions differ, which may explain some of it: driver 570.86.15 → 580.12; SM clock 1980 MHz → 1200–1980 MHz.",
	} {
		wantText(t, doc, "[data-findings]", want)
	}
	if n := doc.Find(".pf-dumbbells circle").Length(); n != 6 {
		t.Errorf("%d ends of dumbbells", n)
	}
	wantText(t, doc, "#times table", "Geometric mean")
	wantText(t, doc, ".pf-why", fmt.Sprintf("#%d keeps the tensor cores busy for 94.9 %% of the cycles; #%d does not use them.", faster, a))
	if doc.Find(".pf-why li").Length() != 3 || doc.Find("#rooflines .pf-arrow").Length() != 1 || doc.Find(".pf-overlays path").Length() != 6 {
		t.Error("the reasons, the arrow between the two on a roofline, or the repeats of the cases are missing")
	}
	if open := doc.Find("#code[open], #sass[open], #profile[open], #profile details[open]").Length(); open > 0 || doc.Find("#sass").Length() != 1 {
		t.Errorf("%d tables begin open", open)
	}
	same := b.page(fmt.Sprintf("/compare?a=%d&b=%d", s.slow.ID, s.slow.ID), http.StatusOK)
	wantText(t, same, "[data-findings]", "Both ran the same source")
	wantText(t, same, "[data-findings]", "Conditions are the same: the same H200, the same software, clocks within 2 %.")
	unsure := b.page(fmt.Sprintf("/compare?a=%d&b=%d", s.first.ID, s.second.ID), http.StatusOK)
	wantText(t, unsure, "[data-findings]", "The data cannot show a difference")
	if unsure.Find(".pf-why").Length() > 0 {
		t.Error("it is said why a run is faster of which nothing shows that it is")
	}
	wantText(t, unsure, "[data-findings]", fmt.Sprintf("#%d Mary Warp took 1.30× the time of #%d Linus Ncu", s.second.SubmissionID, s.first.SubmissionID))
	var answer struct {
		Ratio struct {
			Value, Low, High float64
			Apart            bool
		}
		Because struct{ Causes []struct{ Key string } }
	}
	decodeBody(t, b.get(fmt.Sprintf("/compare.json?a=%d&b=%d", s.slow.ID, s.fast.ID)), &answer)
	if r := answer.Ratio; !r.Apart || !(r.Low < r.Value && r.Value < r.High && r.High < 1) {
		t.Errorf("the same for programs: %+v", r)
	}
	if list := answer.Because.Causes; len(list) < 3 || list[0].Key != "tensor" {
		t.Errorf("programs get the causes %+v", list)
	}
}

// TestARecordsStoryIsToldOnTheBoard: why it is faster than the one before, from both profiles, without leaving the page.
func TestARecordsStoryIsToldOnTheBoard(t *testing.T) {
	s := newProfiledScene(t)
	compared := &comparedScene{profiledScene: s}
	lin := modelstest.Person(t, s.site.Store, "Lin Chen", accounts.RoleUser)
	compared.judged(lin, goodKernel, "570.86.15", "1980 MHz", "cuda4/1", 0.01, 0.01, 0.01)
	fast := compared.judged(lin, slowKernel, "570.86.15", "1980 MHz", "tri/0", 0.005, 0.005, 0.005)
	w := s.window()
	w.open("/tasks/" + s.task.Slug + "/boards/H200")
	w.Click("[aria-labelledby=history] > details > summary")
	story := fmt.Sprintf("[data-story='%d']", fast.ID)
	w.Click(story + " summary")
	w.Shows(story+" [data-findings]", "faster than")
	w.Shows(story+" [data-findings]", "keeps the tensor cores busy")
}
