package work_test

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// compile queues an evaluation that only compiles.
func compile(t *testing.T, s *models.Store, device string) work.Evaluation {
	t.Helper()
	return modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(),
		work.NewEvaluation{Caller: device, Kind: "compile", Device: device, Request: []byte(`{"kind": "compile"}`)}))
}

// TestCompilingWaitsForNoSlotOfAGPU checks that a worker whose slot is busy still gets an evaluation that only
// compiles, but only if it requests such work.
func TestCompilingWaitsForNoSlotOfAGPU(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{Worker: "w1", WorkerStartedAt: time.Now(),
			Slots: []job.Slot{{Device: "H200"}}}))
		task := modelstest.Task(t, s, w.Admin, "matmul", "H200")
		for range 3 {
			modelstest.Submit(t, s, w.Ann, task)
		}
		first := next(t, s, job.WorkRequest{Worker: "w1", Device: "H200"})
		second := next(t, s, job.WorkRequest{
			Worker:     "w1",
			Device:     "H200",
			IsSlotBusy: true,
			Attempts:   []string{first.ID},
		})
		held := []string{first.ID, second.ID}
		if a := next(t, s, job.WorkRequest{Worker: "w1", Device: "H200", CompileOnly: true, Attempts: held}); a != nil {
			t.Fatalf("a request to compile got run %d", a.RunID)
		}
		e := compile(t, s, "H200")
		if a := next(t, s, job.WorkRequest{Worker: "w1", Device: "H200", IsSlotBusy: true, Attempts: held}); a != nil {
			t.Errorf("a slot got attempt %+v", a)
		}
		a := next(t, s, job.WorkRequest{Worker: "w1", Device: "H200", CompileOnly: true, Attempts: held})
		if a == nil || a.EvaluationID != e.ID {
			t.Fatalf("asking to compile got %+v", a)
		}
		// A compilation does not count as load of a slot, so the next run is sent as soon as another one ends.
		modelstest.Got[work.Effect](t)(s.Work.RecordResult(t.Context(), modelstest.Result(*first, 5000), work.ResultFindings{Score: &work.Score{NS: 5000}}))
		if a := next(t, s, job.WorkRequest{Worker: "w1", Device: "H200", IsSlotBusy: true, Attempts: append(held[1:], a.ID)}); a == nil || a.RunID == 0 {
			t.Errorf("beside a compilation: %+v", a)
		}
	})
}

func TestCompilingTakesItsTurnOnACPU(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		workerOf(t, s, "w1", 1)
		e := compile(t, s, "CPU")
		if a := next(t, s, job.WorkRequest{Worker: "w1", Device: "CPU"}); a == nil || a.EvaluationID != e.ID {
			t.Errorf("got %+v", a)
		}
	})
}
