package work_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func types(events []work.RunEvent) (out []string) {
	for _, e := range events {
		out = append(out, string(e.Type)+" "+string(e.State))
	}
	return out
}

func TestEventsMoveTheRunOnAndAreReadInTheirOrder(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		tell := modelstest.EventMaker{Attempt: attempt}
		build := job.StageResult{Stage: job.StageBuild, Status: job.StatusPass, Command: "g++"}
		batch := []job.Event{
			tell.Event(job.Event{Type: job.EventAttemptStarted}),
			tell.Event(job.Event{Type: job.EventStageStarted, Stage: job.StageBuild}),
			tell.Event(job.Event{
				Type:   job.EventLog,
				Stage:  job.StageBuild,
				Stream: "stderr",
				Text:   "warning: \x00\xff",
			}),
			tell.Event(job.Event{Type: job.EventStageEnded, Stage: job.StageBuild, EndedStage: &build}),
			tell.Event(job.Event{Type: job.EventStageStarted, Stage: job.StageRanked}),
		}
		stored, stale, err := s.Work.AppendEvents(ctx, batch)
		if err != nil || len(stale) != 0 {
			t.Fatalf("stale %v, %v", stale, err)
		}
		want := []string{"state queued", "taken building", "stage building", "log building", "ended building",
			"stage ranking"}
		all := modelstest.Got[[]work.RunEvent](t)(s.Work.EventsSince(ctx, run.SubmissionID, 0, 100))
		if diff := cmp.Diff(want, types(all)); diff != "" {
			t.Errorf("events:\n%s", diff)
		}
		if all[1].Event.AttemptSecret != "" || all[5].ID != stored.Events[4].ID {
			t.Errorf("stored %+v, read %+v", stored.Events[4], all[5])
		}
		rest := modelstest.Got[[]work.RunEvent](t)(s.Work.EventsSince(ctx, run.SubmissionID, all[3].ID, 1))
		if len(rest) != 1 || rest[0].ID != all[4].ID {
			t.Errorf("resumed with %v", types(rest))
		}
		if last := modelstest.Got[int64](t)(s.Work.LastEventID(ctx, run.SubmissionID)); last != all[5].ID {
			t.Errorf("last event id %d, want %d", last, all[5].ID)
		}
		moved := modelstest.Got[work.Run](t)(s.Work.Run(ctx, run.ID))
		if moved.State != work.StateRanking || moved.Worker != "w1" || moved.StartedAt == nil {
			t.Errorf("run: %+v", moved)
		}
		stages := modelstest.Got[[]work.Stage](t)(s.Work.Stages(ctx, run.ID))
		if len(stages) != 1 || stages[0].Result.Command != "g++" {
			t.Errorf("stages before the result: %+v", stages)
		}

		again, _, err := s.Work.AppendEvents(ctx, batch)
		if err != nil || len(again.Events) != 0 {
			t.Errorf("delivered again: %v, %v", types(again.Events), err)
		}
	})
}

func TestEventsOfStaleAttemptsAreLeftOut(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		tell := modelstest.EventMaker{Attempt: attempt}
		forged := tell.Event(job.Event{Type: job.EventAttemptStarted})
		forged.AttemptSecret = "guess"
		if stored, stale, err := s.Work.AppendEvents(ctx, []job.Event{forged}); err != nil ||
			len(stored.Events)+len(stale) != 0 {
			t.Errorf("with a wrong secret: %v, %v, %v", types(stored.Events), stale, err)
		}
		modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ann, run.ID)))
		unknown := job.Event{AttemptID: "gone", Number: 1, Type: job.EventAttemptStarted}
		stored, stale, err := s.Work.AppendEvents(ctx, []job.Event{tell.Event(job.Event{Type: job.EventAttemptStarted}), unknown})
		if err != nil || len(stored.Events) != 0 || len(stale) != 2 {
			t.Errorf("after cancelling: %v, %v, %v", types(stored.Events), stale, err)
		}
	})
}

func TestAFloodOfLogLinesIsCutWithANote(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		tell := modelstest.EventMaker{Attempt: attempt}
		line := strings.Repeat("x", 32<<10)
		for range 8 {
			var batch []job.Event
			for range 8 {
				batch = append(batch, tell.Event(job.Event{Type: job.EventLog, Stream: "stdout", Text: line}))
			}
			modelstest.Check(t, modelstest.Third(s.Work.AppendEvents(ctx, batch)))
		}
		modelstest.Check(t, modelstest.Third(s.Work.AppendEvents(ctx,
			[]job.Event{tell.Event(job.Event{Type: job.EventStageStarted, Stage: job.StageTest})})))
		events := modelstest.Got[[]work.RunEvent](t)(s.Work.EventsSince(ctx, run.SubmissionID, 0, 1000))
		bytes, notes := 0, 0
		for _, e := range events {
			if e.Type == job.EventLog {
				bytes += len(e.Event.Text)
				notes += strings.Count(e.Event.Text, "not shown")
			}
		}
		if bytes > work.MaxLogBytes+1000 || bytes < work.MaxLogBytes-len(line) || notes != 1 {
			t.Errorf("%d bytes kept with %d notes", bytes, notes)
		}
		if last := events[len(events)-1]; last.Type != job.EventStageStarted {
			t.Errorf("after the flood came %s", last.Type)
		}
	})
}

// TestAFloodOfEventsOfAnyKindIsCut checks that the stored events of one attempt are limited, so that a worker with a
// stolen secret cannot fill the disk.
func TestAFloodOfEventsOfAnyKindIsCut(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		tell, text := modelstest.EventMaker{Attempt: attempt}, strings.Repeat("x", 1<<20)
		for range 12 {
			modelstest.Check(t, modelstest.Third(s.Work.AppendEvents(ctx, []job.Event{
				tell.Event(job.Event{Type: job.EventCaseEnded, Stage: job.StageTest, Case: &job.CaseResult{Message: text}}),
				tell.Event(job.Event{Type: "invented", Text: text}),
				tell.Event(job.Event{Type: job.EventStageStarted, Text: text}),
				tell.Event(job.Event{Type: job.EventStageEnded, Stage: job.StageTest,
					EndedStage: &job.StageResult{Stage: job.StageTest, Stdout: text}}),
			})))
		}
		var bytes int64
		modelstest.Check(t, s.SQL().QueryRowContext(ctx,
			"select coalesce(sum(length(event)), 0) from run_events").Scan(&bytes))
		if bytes > 2*work.MaxEventBytes+2<<20 || bytes < work.MaxEventBytes {
			t.Errorf("%d bytes are kept of 48 MB", bytes)
		}
	})
}
