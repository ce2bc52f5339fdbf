package work_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// eachKind runs fn once with a run and once with an evaluation, each in a new store, to test the life cycle that both
// share.
func eachKind(t *testing.T, fn func(t *testing.T, s *models.Store, l life)) {
	t.Helper()
	for kind, submit := range map[string]func(t *testing.T, s *models.Store) job.WorkRef{
		"run":        func(t *testing.T, s *models.Store) job.WorkRef { return newWorldRun(t, s).WorkRef() },
		"evaluation": func(t *testing.T, s *models.Store) job.WorkRef { return submitted(t, s, "token:1").WorkRef() },
	} {
		t.Run(kind, func(t *testing.T) {
			modelstest.Each(t, func(t *testing.T,
				s *models.Store) {
				fn(t, s, life{T: t, store: s, ref: submit(t, s)})
			})
		})
	}
}

func newWorldRun(t *testing.T, s *models.Store) work.Run {
	w := modelstest.NewWorld(t, s)
	return w.Submit(t, s, w.Ann)
}

// life is a run or an evaluation in a test.
type life struct {
	*testing.T
	store *models.Store
	ref   job.WorkRef
}

// work reads what both kinds have in common, and the state.
func (l life) work() (work.Work, string) {
	l.Helper()
	if l.ref.EvaluationID != "" {
		e := modelstest.Got[work.Evaluation](l.T)(l.store.Work.Evaluation(l.Context(), l.ref.EvaluationID))
		return e.Work, string(e.State)
	}
	run := modelstest.Got[work.Run](l.T)(l.store.Work.Run(l.Context(), l.ref.RunID))
	return run.Work, string(run.State)
}

func (l life) start() work.Attempt {
	l.Helper()
	return modelstest.Got[work.Attempt](l.T)(l.store.Work.StartAttempt(l.Context(), l.ref))
}

func (l life) taken(a work.Attempt, worker string) {
	l.Helper()
	modelstest.Check(l.T, modelstest.Second(l.store.Work.RecordAttemptsReceived(l.Context(), worker, a.ID)))
}

// result returns a worker's result of an attempt at either kind.
func (l life) result(a work.Attempt, outcome job.Outcome) job.Result {
	r := modelstest.Result(a, 10)
	r.EvaluationID, r.Evaluation, r.Outcome = a.EvaluationID, []byte("{}"), outcome
	return r
}

func (l life) cancel() (work.Effect, error) {
	if l.ref.EvaluationID != "" {
		return l.store.Work.CancelEvaluation(l.Context(), l.ref.EvaluationID, "not wanted")
	}
	return l.store.Work.CancelRun(l.Context(), accounts.User{ID: 1, Role: accounts.RoleAdmin}, l.ref.RunID)
}

// newsCount returns the number of events for watchers of either kind.
func newsCount(out work.Effect) int { return len(out.Events) + len(out.Evaluations) }

func (l life) wantWaiting(attempts, retries int) {
	l.Helper()
	w, state := l.work()
	if w.AttemptID != "" || w.StartedAt != nil || w.DispatchedAt != nil || w.EndedAt != nil || w.AttemptCount != attempts ||
		w.Retries != retries {
		l.Errorf("%s with %+v does not wait after %d attempts and %d losses", state, w, attempts, retries)
	}
	queue := modelstest.Got[[]work.QueuedWork](l.T)(l.store.Work.WaitingQueue(l.Context()))
	if len(queue) != 1 || queue[0].WorkRef() != l.ref || (queue[0].NotBefore != nil) != (retries > 0) {
		l.Errorf("the queue is %+v", queue)
	}
}

func TestWorkOfEitherKindIsHandedBackAtNoCost(t *testing.T) {
	eachKind(t, func(t *testing.T, s *models.Store, l life) {
		for n := range 2 * work.MaxLosses {
			a := l.start()
			modelstest.WantKind(t, modelstest.Second(s.Work.StartAttempt(t.Context(), l.ref)), db.Conflict)
			l.taken(a, "w1")
			if w, _ := l.work(); w.Worker != "w1" || w.StartedAt == nil || w.AttemptID != a.ID || a.Number != n+1 {
				t.Errorf("taken: %+v of %+v", w, a)
			}
			out, err := s.Work.RecordResult(t.Context(), l.result(a, job.OutcomeHandedBack), work.ResultFindings{})
			if err != nil || !out.AttemptAccepted || !out.WorkRetried || newsCount(out) != 1 {
				t.Errorf("handed back: %+v, %v", out, err)
			}
			l.wantWaiting(n+1, 0)
		}
		if by := lostBy(t, s, l.ref); len(by) != 0 {
			t.Errorf("it was lost by %v", by)
		}
	})
}

func TestWorkOfEitherKindIsLostAndTriedAgain(t *testing.T) {
	eachKind(t, func(t *testing.T, s *models.Store, l life) {
		untaken := l.start()
		out, err := s.Work.FailAttempt(t.Context(), untaken.ID, "no one took it", work.LossCountedAgainstWork)
		if err != nil || !out.WorkRetried || newsCount(out) != 0 {
			t.Errorf("an attempt that no one took: %+v, %v", out, err)
		}
		l.wantWaiting(1, 0)
		taken := l.start()
		l.taken(taken, "w1")
		out, err = s.Work.FailAttempt(t.Context(), taken.ID, "the worker is gone", work.LossRetriedAfterPause)
		if err != nil || !out.WorkRetried || newsCount(out) != 1 {
			t.Errorf("a lost attempt: %+v, %v", out, err)
		}
		l.wantWaiting(2, 1)
		if by := lostBy(t, s, l.ref); !slices.Equal(by, []string{"w1"}) {
			t.Errorf("it was lost by %v", by)
		}
		if next := modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(t.Context(), "CPU", 9,
			time.Now())); len(next) != 0 {
			t.Errorf("it is sent again without a pause: %+v", next)
		}
		// A late result of the lost attempt changes nothing, and neither does a second loss.
		if out, err := s.Work.RecordResult(t.Context(), l.result(taken, job.OutcomePassed),
			modelstest.Completed()); err != nil || out.AttemptAccepted {
			t.Errorf("a late result: %+v, %v", out, err)
		}
		if out, err := s.Work.FailAttempt(t.Context(), taken.ID, "again", work.LossRetriedAfterPause); err != nil ||
			out.AttemptAccepted {
			t.Errorf("lost twice: %+v, %v", out, err)
		}
		l.wantWaiting(2, 1)
	})
}

func TestWorkOfEitherKindIsCancelledWhereverItIs(t *testing.T) {
	for _, phase := range []string{"waits", "lies in the queue", "is worked on"} {
		t.Run(phase, func(t *testing.T) {
			eachKind(t, func(t *testing.T, s *models.Store, l life) {
				var a work.Attempt
				if phase != "waits" {
					a = l.start()
				}
				if phase == "is worked on" {
					l.taken(a, "w1")
				}
				out, err := l.cancel()
				if err != nil || strings.Join(out.StoppedAttempts, " ") != a.ID || !out.AttemptAccepted ||
					newsCount(out) != 1 {
					t.Errorf("cancelled: %+v, %v", out, err)
				}
				if w, state := l.work(); state != "cancelled" || w.EndedAt == nil {
					t.Errorf("%s: %+v", state, w)
				}
				modelstest.WantKind(t, modelstest.Second(l.cancel()), db.Conflict)
				modelstest.WantKind(t, modelstest.Second(s.Work.StartAttempt(t.Context(), l.ref)), db.Conflict)
				if phase == "waits" {
					return
				}
				if _, _, stale, err := s.Work.ClassifyAttempts(t.Context(), "w1", []string{a.ID}); err != nil || len(stale) != 1 {
					t.Errorf("its worker is told to drop %v, %v", stale, err)
				}
				if out, err := s.Work.RecordResult(t.Context(), l.result(a, job.OutcomePassed),
					modelstest.Completed()); err != nil || out.AttemptAccepted {
					t.Errorf("its result: %+v, %v", out, err)
				}
			})
		})
	}
}

// TestAResultNamesItsOwnWork checks that the secret of an attempt is valid only for that attempt and its work.
func TestAResultNamesItsOwnWork(t *testing.T) {
	eachKind(t, func(t *testing.T, s *models.Store, l life) {
		a := l.start()
		for name, change := range map[string]func(*job.Result){
			"another run":        func(r *job.Result) { r.RunID += 7 },
			"another evaluation": func(r *job.Result) { r.EvaluationID += "x" },
			"a guess":            func(r *job.Result) { r.AttemptSecret = "guess" },
			"no secret":          func(r *job.Result) { r.AttemptSecret = "" },
		} {
			r := l.result(a, job.OutcomePassed)
			change(&r)
			if err := modelstest.Second(s.Work.RecordResult(t.Context(), r,
				modelstest.Completed())); db.KindOf(err) != db.Forbidden {
				t.Errorf("%s: %v", name, err)
			}
			e := job.Event{RunID: r.RunID, EvaluationID: r.EvaluationID, AttemptID: r.AttemptID,
				AttemptSecret: r.AttemptSecret,
				Number:        1, Type: job.EventAttemptStarted, Worker: "w1"}
			if out, stale, err := s.Work.AppendEvents(t.Context(), []job.Event{e}); err != nil ||
				newsCount(out)+len(stale) != 0 {
				t.Errorf("%s: an event: %+v, %v, %v", name, out, stale, err)
			}
		}
		if out, err := s.Work.RecordResult(t.Context(), l.result(a, job.OutcomePassed),
			modelstest.Completed()); err != nil || !out.AttemptAccepted {
			t.Errorf("its own: %+v, %v", out, err)
		}
	})
}

func TestOneBatchMovesBothKindsOn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		run, e := newWorldRun(t, s), submitted(t, s, "token:1")
		var batch []job.Event
		for _, ref := range []job.WorkRef{run.WorkRef(), e.WorkRef()} {
			a := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, ref))
			for i, event := range []job.Event{{Type: job.EventAttemptStarted}, {Type: job.EventStageStarted, Stage: "test"},
				{Type: job.EventStageStarted, Stage: "profiling"}} {
				event.RunID, event.EvaluationID, event.AttemptID, event.AttemptSecret = ref.RunID, ref.EvaluationID, a.ID,
					a.Secret
				event.Number, event.Worker = i+1, "w1"
				batch = append(batch, event)
			}
		}
		out, stale, err := s.Work.AppendEvents(ctx, batch)
		if err != nil || len(stale) != 0 || len(out.Events) != 3 || len(out.Evaluations) != 1 {
			t.Fatalf("%+v, %v, %v", out, stale, err)
		}
		if e := out.Evaluations[0]; e.State != work.EvaluationProfiling || e.Worker != "w1" || e.ChangeNumber != 3 {
			t.Errorf("the evaluation: %+v", e)
		}
	})
}

// TestAPreemptedProfileWaitsAtNoCostAndIsUnfinished checks that a preempted profile returns to the queue without
// counting as a loss, and runs later.
func TestAPreemptedProfileWaitsAtNoCostAndIsUnfinished(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		modelstest.Check(t, s.Fleet.SaveHeartbeat(ctx,
			job.Heartbeat{
				Worker:          "w1",
				WorkerStartedAt: time.Now(),
				Slots:           []job.Slot{{Device: "CPU", CanProfile: true}},
			}))
		ranked := w.Score(t, s, w.Ann, 10)
		for profiles, want := range map[bool]bool{false: false, true: true} {
			if unfinished := modelstest.Got[bool](t)(s.Work.HasUnfinishedRuns(ctx, ranked.SubmissionID,
				profiles)); unfinished != want {
				t.Errorf("with profiles %v: unfinished is %v", profiles, unfinished)
			}
		}
		profile := modelstest.Got[work.SubmissionRuns](t)(s.Work.SubmissionRuns(ctx, ranked.SubmissionID)).Profiles[ranked.ID]
		l := life{T: t, store: s, ref: profile.WorkRef()}
		a := l.start()
		l.taken(a, "w1")
		if live := modelstest.Got[[]work.LiveAttempt](t)(s.Work.LiveAttempts(ctx)); len(live) != 1 ||
			live[0].Priority != work.PriorityFollowUp {
			t.Errorf("live: %+v", live)
		}
		out, err := s.Work.PreemptAttempt(ctx, a.ID)
		if err != nil || !out.WorkRetried || newsCount(out) != 1 || out.Events[0].Failure == nil {
			t.Errorf("preempted: %+v, %v", out, err)
		}
		l.wantWaiting(1, 0)
		if out, err := s.Work.PreemptAttempt(ctx, a.ID); err != nil || out.AttemptAccepted {
			t.Errorf("preempted twice: %+v, %v", out, err)
		}
	})
}

func TestIsFinalStatesHaveNoSuccessor(t *testing.T) {
	for state, want := range map[work.EvaluationState]bool{
		work.EvaluationSubmitted: false, work.EvaluationCompiling: false, work.EvaluationValidating: false,
		work.EvaluationProfiling: false,
		work.EvaluationCompleted: true, work.EvaluationFailed: true, work.EvaluationTimeout: true,
		work.EvaluationCancelled: true,
	} {
		if state.IsFinal() != want {
			t.Errorf("%s is final: %v", state, !want)
		}
	}
	for state, want := range map[work.RunState]bool{work.StateQueued: false, work.StateRanking: false,
		work.StateDone: true, work.StateFailed: true, work.StateCancelled: true} {
		if state.IsFinal() != want {
			t.Errorf("%s is final: %v", state, !want)
		}
	}
}

// lostBy lists the workers that lost an attempt at the work.
func lostBy(t *testing.T, s *models.Store, ref job.WorkRef) (workers []string) {
	t.Helper()
	rows, err := s.SQL().QueryContext(t.Context(),
		"select distinct worker from attempts where outcome = 'lost' and worker <> '' and (run_id = $1 or evaluation_id = $2)", ref.RunID, ref.EvaluationID)
	modelstest.Check(t, err)
	defer rows.Close()
	for rows.Next() {
		var worker string
		modelstest.Check(t, rows.Scan(&worker))
		workers = append(workers, worker)
	}
	modelstest.Check(t, rows.Err())
	return workers
}
