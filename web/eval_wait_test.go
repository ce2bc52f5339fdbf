package web

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/work"
)

// waitForState waits until the person's newest evaluation is in a state.
func (s *evalSite) waitForState(state work.EvaluationState) work.Evaluation {
	s.t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		list, err := s.site.Store.Work.Evaluations(context.Background(), work.Asker{User: s.user}, 0, 1)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(list) > 0 && list[0].State == state {
			return list[0]
		}
	}
	s.t.Fatalf("no evaluation became %s", state)
	return work.Evaluation{}
}

func TestAWaitThatTakesTooLongIsGivenUp(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.EvalLimits.Wait = time.Second })
	resp, answer := s.ask("POST", "/evaluate", object{"kernel": torchModel("return x")})
	if resp.StatusCode != 500 || answer["error"] != "No GPU available within 1 seconds" || answer["compilation_method"] != "cupy" {
		t.Errorf("%d %v", resp.StatusCode, answer)
	}
	s.waitForState(work.EvaluationCancelled)
}

// TestAWaitThatIsOverGivesTheEvaluationAsItWasLastRead: also where its time is over while the evaluation is read again. Chance
// decides which of the two is noticed first, so it is tried often.
func TestAWaitThatIsOverGivesTheEvaluationAsItWasLastRead(t *testing.T) {
	s := newEvalSite(t)
	if resp, answer := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x")}); resp.StatusCode != 202 {
		t.Fatalf("%s %v", resp.Status, answer)
	}
	e := s.waitForState(work.EvaluationSubmitted)
	for range 40 {
		ctx, over := context.WithCancel(t.Context())
		last, err := s.evals.Await(ctx, e.ID, func(now work.Evaluation) bool {
			over()
			s.site.Hub.EvaluationChanged(now)
			return false
		})
		if err == nil || last.ID != e.ID {
			t.Fatalf("the evaluation is %+v, %v", last, err)
		}
	}
}

func TestACallerWhoWaitsIsToldOfARestart(t *testing.T) {
	s := newEvalSite(t)
	answered := make(chan string, 1)
	go func() {
		resp, err := s.send(context.Background(), "POST", "/evaluate", object{"kernel": torchModel("return x")})
		if err != nil {
			answered <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answered <- resp.Status + " " + string(text)
	}()
	e := s.waitForState(work.EvaluationSubmitted)
	s.stop()
	if got := <-answered; !strings.HasPrefix(got, "503 ") || !strings.Contains(got, e.ID) {
		t.Errorf("the answer is %s", got)
	}
	if e, err := s.site.Store.Work.Evaluation(t.Context(), e.ID); err != nil || e.State != work.EvaluationSubmitted {
		t.Errorf("the evaluation is %s, %v", e.State, err)
	}
}

func TestCancellingWhatRunsTakesNoAcquisitionBack(t *testing.T) {
	s := newEvalSite(t)
	use := func() [3]any {
		_, stats := s.ask("GET", "/stats", nil)
		u := stats["gpu_utilization"].(object)
		return [3]any{u["gpu_acquisitions"], u["gpu_releases"], u["active_sessions"]}
	}
	_, made := s.ask("POST", "/api/v1/evaluations", object{"kernel": torchModel("return x")})
	attempt, err := s.site.Store.Work.StartAttempt(t.Context(), job.Ref{EvaluationID: made["id"].(string)})
	if err != nil {
		t.Fatal(err)
	}
	if got := use(); got != [3]any{0.0, 0.0, 0.0} {
		t.Errorf("while it waits: %v", got)
	}
	if _, _, err := s.site.Store.Work.NoteTaken(t.Context(), "w1", []string{attempt.ID}); err != nil {
		t.Fatal(err)
	}
	if got := use(); got != [3]any{1.0, 0.0, 1.0} {
		t.Errorf("while it runs: %v", got)
	}
	if resp, answer := s.ask("POST", "/api/v1/evaluations/"+attempt.EvaluationID+"/cancel", object{}); resp.StatusCode != 200 {
		t.Fatalf("%s %v", resp.Status, answer)
	}
	if got := use(); got != [3]any{1.0, 1.0, 0.0} {
		t.Errorf("after it was cancelled: %v", got)
	}
}
