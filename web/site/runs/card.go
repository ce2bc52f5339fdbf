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

// maxCardEvents bounds what is read to show a run that goes on; its log is bounded by the store.
const maxCardEvents = 10000

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
	run, def, card := seen.Run, seen.Version.Definition.For(seen.Run.Device), views.RunCard{Run: seen.Run, Task: site.TaskRef(seen.Task)}
	if !run.State.Final() {
		if err := s.addProgress(ctx, run, &card); err != nil {
			return card, err
		}
	}
	card.SelfMeasured = selfMeasured(run, def)
	card.Stages = mergeStages(def, run.Mode, left.Stages, card.Stages, run.State.Final())
	s.addClock(def, &card)
	if !seen.MaySeeSource {
		hideOutput(&card, HiddenOf(def))
	}
	card.Ranking = views.RankingName(def.RankingBy)
	card.Sources = views.Sources{Main: []string{def.SubmissionName()}, Further: def.MayBring}
	card.Confirmed = shownConfirmation(left.confirmation, seen)
	card.Turns = turnsOf(def.RankingBy, seen, left)
	if card.Pool, err = s.poolOf(ctx, run); err != nil {
		return card, err
	}
	if card.Confirmed != nil && card.Pool != nil && len(card.Pool.Runs) == 1 && card.Pool.Gone == 0 {
		card.Pool = nil // says the same
	}
	o, validated, err := s.Outcome(ctx, seen)
	if err != nil {
		return card, err
	}
	card.Validated = validated
	if o != nil {
		card.Outcome.Outcome = *o
	}
	card.Outcome.Mine, card.Outcome.MayReview, card.Outcome.Public = seen.Mine, seen.MayReview, seen.Task.VisibleTo(accounts.User{})
	card.Outcome.Fresh = run.EndedAt != nil && s.site.Now().Sub(*run.EndedAt) < time.Minute
	return card, s.addMeasures(ctx, seen, def, left, &card)
}

// selfMeasured reports whether the kernel runs inside its task's own program, and so can forge its time.
func selfMeasured(run work.Run, def tasks.Definition) bool {
	return cmp.Or(run.Harness, harness.Name(def)) == harness.Bundle
}

func hideOutput(card *views.RunCard, hidden Hidden) {
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

// Outcome is what a run means on its board, for this viewer, with what the validation script said of it; nil if it does not
// stand on the task's current one.
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

// addProgress fills in what only events have about a running run: its stage, with its cases so far, and the log. A waiting
// run gets its place instead.
func (s *Runs) addProgress(ctx context.Context, run work.Run, card *views.RunCard) error {
	if run.State == work.StateQueued {
		return s.addPlace(ctx, run, card)
	}
	events, err := s.site.Store.Work.EventsSince(ctx, run.SubmissionID, 0, maxCardEvents)
	if err != nil {
		return err
	}
	now, log := progressOf(events, run.AttemptID)
	if card.Log = log; now != nil {
		card.Stages = []views.StageView{*now}
	}
	return nil
}

// progressOf reads the stage that an attempt is in, nil between stages, and its output so far.
func progressOf(events []work.RunEvent, attemptID string) (now *views.StageView, log string) {
	var output strings.Builder
	for _, e := range events {
		if e.AttemptID != attemptID || e.Event == nil {
			continue
		}
		switch e.Type {
		case job.EventStage:
			now = &views.StageView{Result: job.StageResult{Stage: e.Event.Stage, Started: e.CreatedAt}, Total: e.Event.Total, Running: true}
		case job.EventCase:
			if now != nil && e.Event.Case != nil {
				now.NextProcess(e.Event.Case.Index)
				now.Result.Cases = append(now.Result.Cases, *e.Event.Case)
				now.Total = max(now.Total, e.Event.Total)
			}
		case job.EventEnded:
			now = nil
		case job.EventLog:
			output.WriteString(e.Event.Text)
		}
	}
	return now, output.String()
}
