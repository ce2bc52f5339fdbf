package web_test

import (
	"context"
	"testing"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestAWaitThatIsOverGivesTheEvaluationAsItWasLastRead ends the wait while the evaluation has just changed. Either
// event may be noticed first, so the test repeats this 40 times.
func TestAWaitThatIsOverGivesTheEvaluationAsItWasLastRead(t *testing.T) {
	s := webtest.NewEvalSite(t)
	if resp, answer := s.Ask("POST", "/api/v1/evaluations",
		webtest.Object{"kernel": webtest.TorchModel("return x")}); resp.StatusCode != 202 {
		t.Fatalf("%s %v", resp.Status, answer)
	}
	e := s.WaitForState(work.EvaluationSubmitted)
	for range 40 {
		ctx, over := context.WithCancel(t.Context())
		last, err := s.Evals().Await(ctx, e.ID, func(now work.Evaluation) bool {
			over()
			s.Cfg.Hub.EvaluationChanged(now)
			return false
		})
		if err == nil || last.ID != e.ID {
			t.Fatalf("the evaluation is %+v, %v", last, err)
		}
	}
}
