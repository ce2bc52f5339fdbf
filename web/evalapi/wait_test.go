package evalapi_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/web"
	"warpboard/web/webtest"
)

func TestAWaitThatTakesTooLongIsGivenUp(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxDeviceWait = time.Second })
	resp, answer := s.Ask("POST", "/evaluate", webtest.Object{"kernel": webtest.TorchModel("return x")})
	if resp.StatusCode != 500 || answer["error"] != "No GPU available within 1 seconds" ||
		answer["compilation_method"] != "cupy" {
		t.Errorf("%d %v", resp.StatusCode, answer)
	}
	s.WaitForState(work.EvaluationCancelled)
}

// The shared measurement belongs to a caller who does not wait, so it may stay in the queue for hours.
func TestAWaitForASharedResultIsGivenUpToo(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxDeviceWait = time.Second })
	request := webtest.Object{"kernel": webtest.TorchModel("return x"), "reuse_result": true}
	_, made := s.Ask("POST", "/api/v1/evaluations", request)
	if resp, answer := s.Ask("POST", "/evaluate", request); resp.StatusCode != 500 ||
		answer["error"] != "No GPU available within 1 seconds" {
		t.Errorf("%d %v", resp.StatusCode, answer)
	}
	s.WaitForState(work.EvaluationCancelled)
	if e, err := s.Cfg.Store.Work.Evaluation(t.Context(), made["id"].(string)); err != nil ||
		e.State != work.EvaluationSubmitted {
		t.Errorf("the one that does not wait is %s, %v", e.State, err)
	}
}

func TestAWaitingCallerLearnsOfARestart(t *testing.T) {
	s := webtest.NewEvalSite(t)
	answered := make(chan string, 1)
	go func() {
		resp, err := s.Send(context.Background(), "POST", "/evaluate",
			webtest.Object{"kernel": webtest.TorchModel("return x")})
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answered <- resp.Status + " " + string(text)
	}()
	e := s.WaitForState(work.EvaluationSubmitted)
	s.Stop()
	if got := <-answered; !strings.HasPrefix(got, "503 ") || !strings.Contains(got, e.ID) {
		t.Errorf("the answer is %s", got)
	}
	if e, err := s.Cfg.Store.Work.Evaluation(t.Context(), e.ID); err != nil || e.State != work.EvaluationSubmitted {
		t.Errorf("the evaluation is %s, %v", e.State, err)
	}
}

func TestCancellingWhatRunsTakesNoAcquisitionBack(t *testing.T) {
	s := webtest.NewEvalSite(t)
	use := func() [3]any {
		_, stats := s.Ask("GET", "/stats", nil)
		u := stats["gpu_utilization"].(webtest.Object)
		return [3]any{u["gpu_acquisitions"], u["gpu_releases"], u["active_sessions"]}
	}
	_, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": webtest.TorchModel("return x")})
	attempt, err := s.Cfg.Store.Work.StartAttempt(t.Context(), job.WorkRef{EvaluationID: made["id"].(string)})
	if err != nil {
		t.Fatal(err)
	}
	if got := use(); got != [3]any{0.0, 0.0, 0.0} {
		t.Errorf("while it waits: %v", got)
	}
	if _, err := s.Cfg.Store.Work.RecordAttemptsReceived(t.Context(), "w1", attempt.ID); err != nil {
		t.Fatal(err)
	}
	if got := use(); got != [3]any{1.0, 0.0, 1.0} {
		t.Errorf("while it runs: %v", got)
	}
	if resp, answer := s.Ask("POST", "/api/v1/evaluations/"+attempt.EvaluationID+"/cancel",
		webtest.Object{}); resp.StatusCode != 200 {
		t.Fatalf("%s %v", resp.Status, answer)
	}
	if got := use(); got != [3]any{1.0, 1.0, 0.0} {
		t.Errorf("after it was cancelled: %v", got)
	}
}
