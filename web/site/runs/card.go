package runs

import (
	"cmp"
	"context"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// RunCard reads the content of a card. It leaves out programs' output unless the viewer may see the source.
func (s *Runs) RunCard(ctx context.Context, seen RunAccess) (views.RunCard, error) {
	profiles, err := s.site.Store.Work.ProfileRuns(ctx, seen.Run)
	if err != nil {
		return views.RunCard{}, err
	}
	of, err := s.confirmedEvidence(ctx, []RunAccess{seen}, profiles)
	if err != nil {
		return views.RunCard{}, err
	}
	return s.card(ctx, seen, of[seen.Run.ID])
}

func (s *Runs) card(ctx context.Context, seen RunAccess, left Evidence) (_ views.RunCard, err error) {
	run, def := seen.Run, seen.Version.Definition.For(seen.Run.Device)
	if !run.State.Final() && run.State != work.StateQueued {
		events, err := s.site.Store.Work.Progress(ctx, run, seen.MaySeeSource)
		_, now, log := progressOf(events, run.AttemptID)
		return s.newCard(seen, left.Stages, now, log), err
	}
	card := s.newCard(seen, left.Stages, nil, "")
	if !run.State.Final() {
		return card, s.addPlace(ctx, run, &card)
	}
	card.Confirmed = shownConfirmation(left.confirmation, seen)
	card.Turns = turnsOf(def.RankingBy, seen, left)
	if card.SourceRuns, err = s.sourceRunsOf(ctx, run); err != nil {
		return card, err
	}
	if card.Confirmed != nil && card.SourceRuns != nil && len(card.SourceRuns.Runs) == 1 && card.SourceRuns.Gone == 0 {
		card.SourceRuns = nil // it would repeat the confirmation
	}
	o, validated, err := s.Outcome(ctx, seen)
	if err != nil {
		return card, err
	}
	card.Validated = validated
	if o != nil {
		card.Outcome.Outcome = *o
	}
	card.Outcome.Fresh = run.EndedAt != nil && s.site.Now().Sub(*run.EndedAt) < time.Minute
	return card, s.addMeasures(ctx, seen, def, left, &card)
}

// newCard is the part of a card that runs have in every state: their stages, which ended or go on.
func (s *Runs) newCard(seen RunAccess, ended []job.StageResult, now []views.StageView, log string) views.RunCard {
	run, def := seen.Run, seen.Version.Definition.For(seen.Run.Device)
	card := views.RunCard{
		Run: run, Task: site.TaskRef(seen.Task), Log: log, SelfMeasured: selfMeasured(run, def),
		Stages:  mergeStages(def, run.Mode, ended, now, run.State.Final()),
		Ranking: views.RankingName(def.RankingBy),
		Sources: views.Sources{Main: []string{def.SubmissionName()}, Further: def.MayBring},
	}
	card.Outcome.Mine, card.Outcome.MayReview, card.Outcome.Public = seen.Mine, seen.MayReview, seen.Task.VisibleTo(accounts.User{})
	s.addClock(def, &card)
	if !seen.MaySeeSource {
		hideOutput(&card, RedactorOf(def))
	}
	return card
}

// LiveCard is the card of a run that a worker has, as everyone may see it, from its Progress.
func (s *Runs) LiveCard(ctx context.Context, run work.Run, events []work.RunEvent) (views.RunCard, error) {
	filed, err := s.site.Store.Submissions.Details(ctx, run.SubmissionID)
	if err != nil {
		return views.RunCard{}, err
	}
	f := filed[run.SubmissionID]
	ended, now, _ := progressOf(events, run.AttemptID)
	return s.newCard(RunAccess{Access{Sub: f.Submission, Owner: f.User, Task: f.Task, Version: f.Version}, run}, ended, now, ""), nil
}

// selfMeasured reports whether the kernel runs inside its task's own program, and so can forge its time.
func selfMeasured(run work.Run, def tasks.Definition) bool {
	return cmp.Or(run.Harness, harness.Name(def)) == harness.Bundle
}

func hideOutput(card *views.RunCard, hidden Redactor) {
	card.Log, card.Failure = "", hidden.Failure(card.Failure)
	for i := range card.Stages {
		hidden.Stage(&card.Stages[i].Result)
	}
}

// TimeOf is the time that a pointer holds; the zero time for nil.
func TimeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Outcome returns the run's place on its board for this viewer, and the result of the validation script; nil if the run
// is not an entry of the task's current version.
func (s *Runs) Outcome(ctx context.Context, seen RunAccess) (*boards.Outcome, boards.Validated, error) {
	if !seen.Run.Stands() || seen.Run.VersionID != seen.Task.VersionID {
		return nil, boards.Validated{}, nil
	}
	o, validated, err := s.site.Store.Boards.Outcome(ctx, seen.Run.Entry())
	if o != nil && !seen.TaskOpen {
		o.HideNext()
	}
	return o, validated, err
}

// progressOf reads the stages of an attempt that ended, the one that it is in, if any, and its output so far.
func progressOf(events []work.RunEvent, attemptID string) (ended []job.StageResult, now []views.StageView, log string) {
	var output strings.Builder
	for _, e := range events {
		if e.AttemptID != attemptID || e.Event == nil {
			continue
		}
		switch e.Type {
		case job.EventStage:
			now = []views.StageView{{Result: job.StageResult{Stage: e.Event.Stage, Started: e.CreatedAt}, Total: e.Event.Total, Running: true}}
		case job.EventCase:
			if len(now) > 0 && e.Event.Case != nil {
				now[0].NextProcess(e.Event.Case.Index)
				now[0].Result.Cases = append(now[0].Result.Cases, *e.Event.Case)
				now[0].Total = max(now[0].Total, e.Event.Total)
			}
		case job.EventEnded:
			if now = nil; e.Event.Ended != nil {
				ended = append(ended, *e.Event.Ended)
			}
		case job.EventLog:
			output.WriteString(e.Event.Text)
		}
	}
	return ended, now, output.String()
}
