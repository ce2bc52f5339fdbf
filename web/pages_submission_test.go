package web_test

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/web/webtest"
)

func TestReaderWhoWasAwayGetsOneCardNotAll(t *testing.T) {
	s := webtest.NewScene(t)
	for i := range 20 {
		s.Worker.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageBenchmark, CaseCount: 20,
			Case: &job.CaseResult{Index: i, Status: job.StatusPass}})
	}
	events, err := s.Cfg.Store.Work.EventsSince(t.Context(), s.Working.SubmissionID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	cards := 0
	for _, e := range events {
		if strings.Contains(string(s.Submissions().RenderEvent(e)), "<article") {
			cards++
		}
	}
	if cards != 1 {
		t.Errorf("%d events gave %d cards, want one with the newest state", len(events), cards)
	}
}
