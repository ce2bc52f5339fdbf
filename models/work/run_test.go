package work_test

import (
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestARunEndsOnceWithItsStagesAndEntry(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		started, err := s.Work.Run(ctx, run.ID)
		modelstest.Check(t, err)
		if started.AttemptID != attempt.ID || attempt.Number != 1 || attempt.Secret == "" {
			t.Errorf("StartAttempt: %+v, %+v", started, attempt)
		}
		result := modelstest.Result(attempt, 1234.5)
		result.Artifacts = []job.Artifact{{Name: "../profile.0.ncu-rep.gz", Type: "application/gzip",
			Data: []byte("report")}}
		out, err := s.Work.RecordResult(ctx, result,
			work.ResultFindings{Score: &work.Score{NS: 1234.5, DeviationNS: 2, StandardErrorNS: 0.25}})
		modelstest.Check(t, err)
		if !out.AttemptAccepted || out.ChangedBoard == nil || out.ChangedBoard.ChangeNumber != 1 ||
			len(out.Events) != 1 ||
			out.Events[0].State != work.StateDone {
			t.Errorf("RecordResult: %+v", out)
		}
		got, err := s.Work.Run(ctx, run.ID)
		modelstest.Check(t, err)
		if !got.Valid() || *got.ScoreNS != 1234.5 || got.Machine.SandboxName != "bubblewrap" ||
			got.EndedAt.Location() != time.UTC {
			t.Errorf("Run: %+v", got)
		}
		stages, err := s.Work.Stages(ctx, run.ID)
		modelstest.Check(t, err)
		var results []job.StageResult
		for _, stage := range stages {
			results = append(results, stage.Result)
		}
		if diff := cmp.Diff(result.Stages, results); diff != "" {
			t.Errorf("stages (-sent +kept):\n%s", diff)
		}
		of, err := s.Work.ArtifactsOf(ctx, run.ID)
		files := of[run.ID]
		if err != nil || len(files) != 1 || files[0].Name != "profile.0.ncu-rep.gz" {
			t.Fatalf("Artifacts: %+v, %v", files, err)
		}
		f, err := s.Work.OpenArtifact(ctx, files[0])
		modelstest.Check(t, err)
		defer f.Close()
		if text, err := io.ReadAll(f); err != nil || string(text) != "report" {
			t.Errorf("artifact: %q, %v", text, err)
		}

		again, err := s.Work.RecordResult(ctx, result, work.ResultFindings{Score: &work.Score{NS: 1}})
		if err != nil || again.AttemptAccepted || again.ChangedBoard != nil {
			t.Errorf("the same result again: %+v, %v", again, err)
		}
		modelstest.WantKind(t, modelstest.Second(s.Work.CancelRun(ctx, w.Admin, run.ID)), db.Conflict)
	})
}

func TestOneOfManyWinsARunThatWaits(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		run := w.Submit(t, s, w.Ann)
		var wg sync.WaitGroup
		wins := make(chan work.Attempt, 8)
		for range 8 {
			wg.Go(func() {
				attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
				if err == nil {
					wins <- attempt
				} else if db.KindOf(err) != db.Conflict {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(wins) != 1 {
			t.Errorf("%d dispatchers won the run", len(wins))
		}
	})
}

func TestAResultCountsOnceHoweverOftenItComes(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		attempt, err := s.Work.StartAttempt(t.Context(), w.Submit(t, s, w.Ann).WorkRef())
		modelstest.Check(t, err)
		var wg sync.WaitGroup
		accepted := make(chan bool, 6)
		for range 6 {
			wg.Go(func() {
				out, err := s.Work.RecordResult(t.Context(), modelstest.Result(attempt, 10),
					work.ResultFindings{Score: &work.Score{NS: 10}})
				if err != nil {
					t.Error(err)
				}
				if out.AttemptAccepted {
					accepted <- true
				}
			})
		}
		wg.Wait()
		if change, err := s.Boards.ChangeNumber(t.Context(), w.Task.VersionID, "CPU"); len(accepted) != 1 ||
			change != 1 || err != nil {
			t.Errorf("%d accepted, board change %d, %v", len(accepted), change, err)
		}
	})
}

func TestCancelAndFinishNeverBothWin(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		for range 10 {
			run := w.Submit(t, s, w.Ann)
			attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
			modelstest.Check(t, err)
			var cancelled error
			var out work.Effect
			var wg sync.WaitGroup
			wg.Go(func() { _, cancelled = s.Work.CancelRun(ctx, w.Ann, run.ID) })
			wg.Go(func() {
				var err error
				if out, err = s.Work.RecordResult(ctx, modelstest.Result(attempt, 10),
					work.ResultFindings{Score: &work.Score{NS: 10}}); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			got, err := s.Work.Run(ctx, run.ID)
			modelstest.Check(t, err)
			want := work.StateDone
			if cancelled == nil {
				want = work.StateCancelled
			}
			if got.State != want || out.AttemptAccepted == (cancelled == nil) {
				t.Errorf("cancel: %v, result accepted: %v, state %s", cancelled, out.AttemptAccepted, got.State)
			}
		}
	})
}

func TestAResultOfAnOldAttemptOrWithAWrongSecretIsRefused(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		old, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		forged := modelstest.Result(old, 1)
		forged.AttemptSecret = "guess"
		modelstest.WantKind(t, modelstest.Second(s.Work.RecordResult(ctx, forged, work.ResultFindings{})), db.Forbidden)
		modelstest.Check(t, modelstest.Second(s.Work.FailAttempt(ctx, old.ID, "The worker is gone.",
			work.LossCountedAgainstWork)))
		fresh, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		if out, err := s.Work.RecordResult(ctx, modelstest.Result(old, 1),
			work.ResultFindings{Score: &work.Score{NS: 1}}); err != nil || out.AttemptAccepted {
			t.Errorf("old attempt: %+v, %v", out, err)
		}
		if out, err := s.Work.RecordResult(ctx, modelstest.Result(fresh, 2),
			work.ResultFindings{Score: &work.Score{NS: 2}}); err != nil || !out.AttemptAccepted {
			t.Errorf("current attempt: %+v, %v", out, err)
		}
		unknown := modelstest.Result(work.Attempt{ID: "none", RunID: run.ID}, 1)
		if out, err := s.Work.RecordResult(ctx, unknown, work.ResultFindings{}); err != nil || out.AttemptAccepted {
			t.Errorf("unknown attempt: %+v, %v", out, err)
		}
	})
}

func TestARunLostThreeTimesIsAnInfrastructureError(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		lose := func(worker string) work.Effect {
			attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
			modelstest.Check(t, err)
			_, err = s.Work.RecordAttemptsReceived(ctx, worker, attempt.ID)
			modelstest.Check(t, err)
			return modelstest.Got[work.Effect](t)(s.Work.FailAttempt(ctx, attempt.ID,
				"The worker "+worker+" is gone.", work.LossCountedAgainstWork))
		}
		untaken := func() {
			attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
			modelstest.Check(t, err)
			if out, err := s.Work.FailAttempt(ctx, attempt.ID, "no one took it",
				work.LossCountedAgainstWork); err != nil ||
				!out.WorkRetried || len(out.Events) != 0 {
				t.Errorf("an attempt that no one took: %+v, %v", out, err)
			}
		}
		for _, worker := range []string{"w1", "w2"} {
			untaken()
			if out := lose(worker); !out.WorkRetried || out.Events[0].State != work.StateQueued {
				t.Errorf("lost: %+v", out)
			}
		}
		if out := lose("w3"); out.WorkRetried || out.Events[0].State != work.StateFailed {
			t.Errorf("lost for the third time: %+v", out)
		}
		run, err := s.Work.Run(ctx, run.ID)
		modelstest.Check(t, err)
		want := "The run ended after 3 infrastructure errors, and does not count against any limit. The last error: The worker w3 is gone."
		if run.Failure == nil || run.Failure.Reason != want || !run.InfrastructureError || run.AttemptCount != 5 {
			t.Errorf("%+v, %+v", run, run.Failure)
		}
	})
}

func TestACancelledRunStillKeepsTheStagesOfItsResult(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		modelstest.WantKind(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ben, run.ID)), db.Forbidden)
		out, err := s.Work.CancelRun(ctx, w.Ann, run.ID)
		if err != nil || !slices.Equal(out.StoppedAttempts, []string{attempt.ID}) || len(out.Events) != 1 ||
			out.Events[0].State != work.StateCancelled {
			t.Errorf("CancelRun: %+v, %v", out, err)
		}
		result := modelstest.Result(attempt, 5)
		result.Outcome = job.OutcomeCancelled
		if out, err := s.Work.RecordResult(ctx, result, work.ResultFindings{Score: &work.Score{NS: 5}}); err != nil ||
			out.AttemptAccepted {
			t.Errorf("RecordResult: %+v, %v", out, err)
		}
		got, err := s.Work.Run(ctx, run.ID)
		modelstest.Check(t, err)
		stages, err := s.Work.Stages(ctx, run.ID)
		if got.State != work.StateCancelled || got.ScoreNS != nil || len(stages) != 4 || err != nil {
			t.Errorf("%+v with %d stages, %v", got, len(stages), err)
		}
	})
}
