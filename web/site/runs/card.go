package runs

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// cardSource has the data from which the card of a run is made.
type cardSource struct {
	RunView
	confirmation     models.ConfirmationSides
	newestTurnStages []job.StageResult // stages of the run's newest turn, a confirmation run
	sameSourceRuns   []work.Run        // runs of the same source, which share a score with the run
	firstRunID       int64             // the first run of its board; 0 if unknown
}

// cards returns the cards of a submission's runs. The number of queries does not depend on the number of runs, except
// for one query per run that a worker has. The output of programs is omitted unless the viewer may see the source.
func (s *Runs) cards(
	ctx context.Context, seen SubmissionAccess, family work.SubmissionRuns,
) (cards []views.RunCard, err error) {
	var scored, turns []int64
	var devices []string
	for _, run := range family.Runs {
		if run.ScoreNS != nil && run.State.IsFinal() {
			scored, devices = append(scored, run.ID), append(devices, run.Device)
		}
	}
	var confirmed map[int64]models.ConfirmationSides
	var firsts map[string]int64
	if len(scored) > 0 {
		if confirmed, err = s.site.Store.Confirmations(ctx, scored...); err != nil {
			return nil, err
		}
		for _, c := range confirmed {
			if n := len(c.CountedTurns); n > 0 {
				turns = append(turns, c.CountedTurns[n-1].MeasuredByRun)
			}
		}
	}
	read, err := s.readWithRuns(ctx, seen, family, turns...)
	if err != nil {
		return nil, err
	}
	together, err := s.site.Store.Work.RunsOfSource(ctx, family.Runs...)
	if err != nil {
		return nil, err
	}
	apart := func(r RunView) bool {
		return r.Run.ScoreNS != nil && (r.Outcome == nil || r.Outcome.LeadingRun == 0)
	}
	if seen.MaySeeTask && slices.ContainsFunc(read.Runs, apart) {
		if firsts, err = s.site.Store.Boards.FirstPlaceRuns(ctx, read.Runs[0].Run.VersionID, devices...); err != nil {
			return nil, err
		}
	}
	for _, run := range read.Runs {
		source := cardSource{run, confirmed[run.Run.ID], nil, together[run.Run.ID], firsts[run.Run.Device]}
		if n := len(source.confirmation.CountedTurns); n > 0 {
			turn := source.confirmation.CountedTurns[n-1].MeasuredByRun
			_, source.newestTurnStages = run.redacted(work.Run{ID: turn, State: work.StateDone}, read.stages[turn])
		}
		card, err := s.card(ctx, source)
		if err != nil {
			return nil, err
		}
		cards = append(cards, card)
	}
	return cards, nil
}

func (s *Runs) card(ctx context.Context, of cardSource) (views.RunCard, error) {
	run, def := of.Run, of.Version.Definition.ForDevice(of.Run.Device)
	if !run.State.IsFinal() && run.State != work.StateQueued {
		events, err := s.site.Store.Work.LiveCardEvents(ctx, run, of.MaySeeSource)
		_, now, log := attemptProgress(events, run.AttemptID)
		return s.newCard(of.RunAccess, of.Stages, now, log), err
	}
	card := s.newCard(of.RunAccess, of.Stages, nil, "")
	if !run.State.IsFinal() {
		addQueuePosition(of.RunView, &card)
		return card, nil
	}
	card.Confirmation = shownConfirmation(of.confirmation, of.RunAccess)
	card.Turns = scoreTurns(def.RankingBy, of)
	card.SourceRuns = sourceRunsOf(run, of.sameSourceRuns)
	if card.Confirmation != nil && card.SourceRuns != nil && len(card.SourceRuns.Runs) == 1 &&
		card.SourceRuns.Gone == 0 {
		card.SourceRuns = nil // the list would show the same run as the confirmation
	}
	card.ValidationResult = of.ValidationResult
	if of.Outcome != nil {
		card.Outcome.Outcome = *of.Outcome
	}
	card.Outcome.Fresh = run.EndedAt != nil && s.site.Now().Sub(*run.EndedAt) < time.Minute
	return card, s.addMeasurements(of, def, &card)
}

// newCard returns the part of a card that all runs have: ended stages, and running ones (now).
func (s *Runs) newCard(seen RunAccess, ended []job.StageResult, now []views.StageView, log string) views.RunCard {
	run, def := seen.Run, seen.Version.Definition.ForDevice(seen.Run.Device)
	card := views.RunCard{
		Run: run, Task: site.TaskLink(seen.Task), OutputSoFar: log, MeasuredByTaskProgram: isMeasuredByTaskProgram(run, def),
		Stages:      mergeStages(def, run.Mode, ended, now, run.State.IsFinal()),
		RankingRule: views.RankingName(def.RankingBy),
		SourceNames: views.SourceNames{MainFileNames: []string{def.SubmissionName()},
			IsAdditionalFile: def.AllowsSubmittedFile},
	}
	card.Outcome.Mine, card.Outcome.MayReview, card.Outcome.Public = seen.IsOwner, seen.MayReview, seen.Task.VisibleTo(accounts.User{})
	s.addStageClock(def, &card)
	if !seen.MaySeeSource {
		hideOutput(&card, NewRedactor(def))
	}
	return card
}

// LiveCard returns the public card of a run that a worker has, from its events.
func (s *Runs) LiveCard(ctx context.Context, run work.Run, events []work.RunEvent) (views.RunCard, error) {
	filed, err := s.site.Store.Submissions.Details(ctx, run.SubmissionID)
	if err != nil {
		return views.RunCard{}, err
	}
	f := filed[run.SubmissionID]
	ended, now, _ := attemptProgress(events, run.AttemptID)
	return s.newCard(RunAccess{SubmissionAccess{Submission: f.Submission, Owner: f.User, Task: f.Task, Version: f.Version}, run}, ended, now, ""), nil
}

// isMeasuredByTaskProgram reports whether the kernel runs inside the task's own program, so that it could forge its
// time.
func isMeasuredByTaskProgram(run work.Run, def tasks.Definition) bool {
	return cmp.Or(run.Harness, harness.HarnessNameOfTask(def)) == harness.BundleHarness
}

func hideOutput(card *views.RunCard, hidden Redactor) {
	card.OutputSoFar, card.Failure = "", hidden.RedactFailure(card.Failure)
	for i := range card.Stages {
		hidden.RedactStage(&card.Stages[i].Result)
	}
}

// TimeOrZero returns *t, or the zero time if t is nil.
func TimeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// attemptProgress returns the ended stages, the running stage, and the output so far of an attempt.
func attemptProgress(
	events []work.RunEvent, attemptID string,
) (ended []job.StageResult, now []views.StageView, log string) {
	var output strings.Builder
	for _, e := range events {
		if e.AttemptID != attemptID || e.Event == nil {
			continue
		}
		switch e.Type {
		case job.EventStageStarted:
			now = []views.StageView{{Result: job.StageResult{Stage: e.Event.Stage, StartedAt: e.CreatedAt}, TotalCases: e.Event.CaseCount, IsRunning: true}}
		case job.EventCaseEnded:
			if len(now) > 0 && e.Event.Case != nil {
				now[0].StartNextProcess(e.Event.Case.Index)
				now[0].Result.Cases = append(now[0].Result.Cases, *e.Event.Case)
				now[0].TotalCases = max(now[0].TotalCases, e.Event.CaseCount)
			}
		case job.EventStageEnded:
			if now = nil; e.Event.EndedStage != nil {
				ended = append(ended, *e.Event.EndedStage)
			}
		case job.EventLog:
			output.WriteString(e.Event.Text)
		}
	}
	return ended, now, output.String()
}
