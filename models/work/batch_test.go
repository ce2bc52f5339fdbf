package work_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// batchOf submits a batch of n evaluations for a caller who may have atOnce of them in the queue.
func batchOf(t *testing.T, s *models.Store, caller string, n, atOnce int) (id string, made []work.Evaluation) {
	t.Helper()
	in := work.NewBatch{Requester: work.Requester{Owner: "key:" + caller}, Caller: caller,
		Limits: work.EvaluationLimits{MaxLive: atOnce}}
	for i := range n {
		in.Items = append(in.Items, work.BatchItem{Index: i, Request: work.NewEvaluation{
			Kind: "evaluate", Device: "H200", Request: json.RawMessage(`{}`), Sources: fmt.Append(nil, i)}})
	}
	id, err := s.Work.SubmitBatch(t.Context(), in)
	modelstest.Check(t, err)
	for _, item := range in.Items {
		modelstest.Check(t, item.Err)
		made = append(made, item.Evaluation)
	}
	return id, made
}

// resultsOf lists the results of a batch.
func resultsOf(t *testing.T, s *models.Store, id string) (list []work.Evaluation) {
	t.Helper()
	for {
		e, err := s.Work.NextBatchResult(t.Context(), id, int64(len(list)))
		if db.KindOf(err) == db.NotFound {
			return list
		}
		modelstest.Check(t, err)
		list = append(list, e)
	}
}

// turns starts the waiting work of a device until no more may start, and returns the names of its owners in order.
func turns(t *testing.T, s *models.Store, names map[string]string) (order []string) {
	t.Helper()
	for {
		next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(t.Context(), "H200",
			1, time.Now().Add(time.Minute)))
		if len(next) == 0 {
			return order
		}
		name := "run"
		if next[0].EvaluationID != "" {
			name = names[modelstest.Got[work.Evaluation](t)(s.Work.Evaluation(t.Context(),
				next[0].EvaluationID)).Caller]
		}
		order = append(order, name)
		modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), next[0].WorkRef()))
	}
}

func TestABatchTakesTurnsWithOtherCallersAndWithRuns(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		batchOf(t, s, "person:77", 4, 0)
		batchOf(t, s, "address:b", 2, 0)
		ann := modelstest.Person(t, s, "ann", accounts.RoleCreator)
		task := modelstest.Task(t, s, ann, "sort", "H200")
		modelstest.Submit(t, s, ann, task)
		single := work.NewEvaluation{Caller: "address:c", Kind: "evaluate", Device: "H200",
			Request: json.RawMessage(`{}`)}
		modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(), single))
		got := turns(t, s, map[string]string{"person:77": "a", "address:b": "b", "address:c": "single"})
		if diff := cmp.Diff([]string{"single", "a", "b", "run", "a", "b", "a", "a"}, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestABatchWaitsBeyondWhatItsCallerMayHaveInWork(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		_, made := batchOf(t, s, "a", 5, 2)
		names := map[string]string{"a": "a", "b": "b"}
		if diff := cmp.Diff([]string{"a", "a"}, turns(t, s, names)); diff != "" {
			t.Errorf("at first:\n%s", diff)
		}
		batchOf(t, s, "b", 1, 2)
		if diff := cmp.Diff([]string{"b"}, turns(t, s, names)); diff != "" {
			t.Errorf("with another caller:\n%s", diff)
		}
		modelstest.Check(t, modelstest.Second(s.Work.CancelEvaluation(t.Context(), made[0].ID, "")))
		if diff := cmp.Diff([]string{"a"}, turns(t, s, names)); diff != "" {
			t.Errorf("after the end of %s:\n%s", made[0].ID, diff)
		}
	})
}

func TestAStoppedWorkerLosesNoResultOfABatch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		id, made := batchOf(t, s, "a", 3, 0)
		lost := begun(t, s, made[0])
		done := begun(t, s, made[1])
		if out := modelstest.Got[work.Effect](t)(s.Work.RecordResult(t.Context(), lostResult(lost, false),
			modelstest.Completed())); !out.WorkRetried {
			t.Fatalf("the lost one is not tried again: %+v", out)
		}
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), modelstest.Evaluated(done, `{}`),
			modelstest.Completed())))
		for _, i := range []int{2, 0} {
			attempt := begun(t, s, made[i])
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), modelstest.Evaluated(attempt, `{}`),
				modelstest.Completed())))
		}
		var indexes []int
		for i, e := range resultsOf(t, s, id) {
			if e.BatchResultNumber != int64(i+1) || e.State != work.EvaluationCompleted {
				t.Errorf("result %d: %+v", i+1, e)
			}
			indexes = append(indexes, e.BatchIndex)
		}
		if !slices.Equal(indexes, []int{1, 2, 0}) {
			t.Errorf("the results are of %v", indexes)
		}
		if b := modelstest.Got[work.Batch](t)(s.Work.Batch(t.Context(), id)); b.HasUnfinished {
			t.Errorf("the batch is %+v", b)
		}
	})
}

func TestNoResultIsDroppedWhileItsBatchGoesOn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		id, made := batchOf(t, s, "a", 2, 0)
		modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(),
			"update evaluations set queued_at = '2020-01-01 00:00:00'")))
		end := func(e work.Evaluation) {
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(),
				modelstest.Evaluated(begun(t, s, e), `{}`), modelstest.Completed())))
		}
		prune := func() (left int) {
			modelstest.Check(t, s.Work.PruneEvaluationsOf(t.Context(), "key:a", time.Now().Add(time.Hour)))
			modelstest.Check(t, s.Work.PruneEvaluations(t.Context(), time.Now().Add(time.Hour)))
			modelstest.Check(t, s.Work.PruneEvaluationsAbove(t.Context(), 0))
			return len(resultsOf(t, s, id))
		}
		end(made[0])
		if left := prune(); left != 1 {
			t.Errorf("%d results are left while one is live", left)
		}
		end(made[1])
		if left := prune(); left != 0 {
			t.Errorf("%d results are left of a batch that has ended", left)
		}
	})
}
