package runs

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/views/charts"
	"warpboard/views/format"
	"warpboard/web/site"
)

// maxCardEvents bounds what is read to show a run that goes on; its log is bounded by the store.
const maxCardEvents = 10000

// RunCard reads all that a card shows. What programs printed is left out unless the reader may see the source.
func (s *Runs) RunCard(ctx context.Context, seen RunAccess) (views.RunCard, error) {
	of, err := s.EvidenceOf(ctx, seen)
	if err != nil {
		return views.RunCard{}, err
	}
	return s.card(ctx, seen, of[seen.Run.ID])
}

func (s *Runs) card(ctx context.Context, seen RunAccess, left Evidence) (_ views.RunCard, err error) {
	run, def, card := seen.Run, seen.Version.Definition, cardOf(seen.Task, seen.Run)
	if !run.State.Final() {
		if err := s.addProgress(ctx, run, &card); err != nil {
			return card, err
		}
	}
	card.SelfMeasured = selfMeasured(run, def)
	card.Stages = mergeStages(plannedStages(run.Mode, def.Lang), left.Stages, card.Stages, run.State.Final())
	s.addClock(def, &card)
	if !seen.MaySeeSource {
		hideOutput(&card)
	}
	card.Ranking, card.SourceName = views.RankingName(def.RankingBy), def.SubmissionName()
	if card.Confirmed, err = s.confirmation(ctx, run); err != nil {
		return card, err
	}
	if card.Pool, err = s.poolOf(ctx, run); err != nil {
		return card, err
	}
	if card.Confirmed != nil && card.Pool != nil && len(card.Pool.Runs) == 1 && card.Pool.Gone == 0 {
		card.Pool = nil // says the same
	}
	if run.Stands() && run.VersionID == seen.Task.VersionID {
		if err := s.addRank(ctx, run, &card); err != nil {
			return card, err
		}
	}
	return card, s.addMeasures(ctx, run, def, left, &card)
}

// addClock says of the stage that goes on how long it has, how long it may, and which case runs. A build's limit is
// its worker's.
func (s *Runs) addClock(def tasks.Definition, card *views.RunCard) {
	limits := map[job.Stage]time.Duration{
		job.StageTest: def.Timeouts.Test, job.StageBenchmark: def.Timeouts.Benchmark, job.StageRanked: def.Timeouts.Ranked,
	}
	cases := map[job.Stage][]tasks.Case{job.StageTest: def.Tests, job.StageBenchmark: def.Benchmarks, job.StageRanked: def.Benchmarks}
	for i, stage := range card.Stages {
		if !stage.Running {
			continue
		}
		card.Stages[i].For, card.Stages[i].Limit = max(s.Now().Sub(stage.Result.Started), 0), limits[stage.Result.Stage]
		if next := len(stage.Result.Cases); next < len(cases[stage.Result.Stage]) && stage.Total > 0 {
			card.Stages[i].Now = cases[stage.Result.Stage][next].String()
		}
	}
}

// selfMeasured reports whether the kernel runs inside a program that its task brought, and so can tell it any time.
func selfMeasured(run models.Run, def tasks.Definition) bool {
	return cmp.Or(run.Harness, harness.Name(def)) == harness.Bundle
}

func hideOutput(card *views.RunCard) {
	card.Log = ""
	for i := range card.Stages {
		r := &card.Stages[i].Result
		r.Stdout, r.Stderr, r.Command = "", "", ""
	}
}

func cardOf(task models.Task, run models.Run) views.RunCard {
	return views.RunCard{
		ID: run.ID, SubmissionID: run.SubmissionID, Device: run.Device, State: string(run.State), Attempt: run.Attempts,
		Queued: run.QueuedAt, Started: TimeOf(run.StartedAt), Ended: TimeOf(run.EndedAt),
		Failure: run.Failure, ScoreNS: run.ScoreNS, Interval: IntervalOf(run.Interval).From(run.Pooled), Disturbed: run.Disturbed, Ranked: run.Mode == job.ModeRanked, Task: site.TaskRef(task),
		LogID: "log-" + run.AttemptID, Machine: run.Machine, Harness: run.Harness, Verdict: VerdictOf(run),
	}
}

// IntervalOf is the interval of a score as pages show it.
func IntervalOf(i models.Interval) views.Interval {
	shown := views.Interval{Processes: i.Processes, Noisy: i.Noisy}
	if i.LowNS != nil && i.HighNS != nil {
		shown.Low, shown.High = *i.LowNS, *i.HighNS
	}
	return shown
}

// VerdictOf is what people decided about a run, as pages show it.
func VerdictOf(run models.Run) views.Verdict {
	return views.Verdict{Disqualified: run.DisqualifiedAt != nil, Why: run.DisqualifiedWhy, Reinstated: run.ReinstatedWhy, Held: run.HeldWhy}
}

// TimeOf is the time that a pointer holds; the zero time for nil.
func TimeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// addRank gives the run its place if it is its person's entry, else the entry that it did not beat.
func (s *Runs) addRank(ctx context.Context, run models.Run, card *views.RunCard) error {
	st, err := s.Store.Place(ctx, run.VersionID, run.Device, run.UserID)
	switch {
	case models.KindOf(err) == models.NotFound:
		return nil
	case err != nil:
		return err
	}
	card.FirstNS, card.FirstRun = st.ScoreNS-st.GapNS, st.FirstRun
	if st.RunID == run.ID {
		card.Rank, card.Tied, card.Record = st.Rank, st.Tied, st.Record
		if card.Pool != nil {
			return nil // what it was before is in the pool
		}
		return s.addBefore(ctx, run, card)
	}
	card.Best = &views.OwnBest{SubmissionID: st.SubmissionID, RunID: st.RunID, ScoreNS: st.ScoreNS, Rank: st.Rank, Tied: st.Tied}
	return nil
}

// addBefore gives an entry its person's best before it, with the place that it would have now.
func (s *Runs) addBefore(ctx context.Context, run models.Run, card *views.RunCard) error {
	before, err := s.Store.ValidRuns(ctx, run.VersionID, run.Device, run.UserID, run.ID, 1)
	if err != nil || len(before) == 0 {
		return err
	}
	b := before[0]
	place, err := s.Store.PlaceWith(ctx, run.VersionID, run.Device, run.UserID, b.ScoreNS)
	card.Before = &views.OwnBest{SubmissionID: b.SubmissionID, RunID: b.RunID, ScoreNS: b.ScoreNS, Rank: place}
	return err
}

// addProgress fills in what only events have told of a run that goes on: the stage it is in, with
// its cases so far, and the log. A waiting run gets its place instead.
func (s *Runs) addProgress(ctx context.Context, run models.Run, card *views.RunCard) error {
	if run.State == models.StateQueued {
		return s.addPlace(ctx, run, card)
	}
	events, err := s.Store.EventsSince(ctx, run.SubmissionID, 0, maxCardEvents)
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
func progressOf(events []models.RunEvent, attemptID string) (now *views.StageView, log string) {
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

// addPlace says where a run stands in the queue, and why it waits.
func (s *Runs) addPlace(ctx context.Context, run models.Run, card *views.RunCard) error {
	places, err := s.Store.Places(ctx, run.SubmissionID)
	if err != nil {
		return err
	}
	devices, err := s.DeviceList(ctx)
	if err != nil {
		return err
	}
	card.Position, card.NoWorker = places[run.ID], true
	card.Waiting = "The run keeps its place and starts when one comes."
	for _, d := range devices {
		if d.Device == run.Device && d.Slots == 0 && d.Problem != "" {
			card.Waiting = d.Problem + " The run keeps its place and starts when that is repaired."
		}
		if d.Device != run.Device || d.Slots == 0 {
			continue
		}
		card.NoWorker = false
		switch {
		case d.PausedSince != nil:
			card.Waiting = fmt.Sprintf("%s paused %s; the run keeps its place and starts when that ends.", d.PausedBy, run.Device)
			if d.PausedWhy != "" {
				card.Waiting += " " + d.PausedWhy
			}
		case d.Busy >= d.Slots:
			card.Waiting = fmt.Sprintf("All slots for %s are busy (%d).", run.Device, d.Slots)
			return s.addWait(ctx, card, d.Slots)
		default:
			card.Waiting = "A slot is free; it starts in a moment."
		}
	}
	return nil
}

// addWait says about how long a run waits.
func (s *Runs) addWait(ctx context.Context, card *views.RunCard, slots int) error {
	wait, err := s.expectedWait(ctx, card.Device, card.Position, slots)
	if wait > 0 {
		card.Waiting += fmt.Sprintf(" By past runs it waits about %s.", format.Duration(max(wait.Round(time.Second), time.Second)))
	}
	return err
}

// ExpectedWait is about how long a run at a place of a device's queue waits, by what the last ones took; 0 is unknown.
func (s *Runs) ExpectedWait(ctx context.Context, device string, place int) (time.Duration, error) {
	devices, err := s.DeviceList(ctx)
	for _, d := range devices {
		if d.Device == device && d.Slots > 0 && d.Busy >= d.Slots && d.PausedSince == nil {
			return s.expectedWait(ctx, device, place, d.Slots)
		}
	}
	return 0, err
}

func (s *Runs) expectedWait(ctx context.Context, device string, place, slots int) (time.Duration, error) {
	pace, err := s.Store.Pace(ctx, device)
	return pace * time.Duration(place) / time.Duration(slots), err
}

// StagesOfAttempt keeps the stages of the run's current or last attempt.
func StagesOfAttempt(run models.Run, stages []models.Stage) []job.StageResult {
	if len(stages) == 0 {
		return nil
	}
	attempt := run.AttemptID
	if attempt == "" && run.State.Final() {
		attempt = stages[len(stages)-1].AttemptID
	}
	var results []job.StageResult
	for _, stage := range stages {
		if stage.AttemptID == attempt {
			results = append(results, stage.Result)
		}
	}
	return results
}

// plannedStages are the stages that a run of a mode goes through; Python needs no build.
func plannedStages(mode job.Mode, lang tasks.Lang) []job.Stage {
	stages := map[job.Mode][]job.Stage{
		job.ModeTest:      {job.StageBuild, job.StageTest},
		job.ModeBenchmark: {job.StageBuild, job.StageBenchmark},
		job.ModeRanked:    {job.StageBuild, job.StageTest, job.StageBenchmark, job.StageRanked},
		job.ModeProfile:   {job.StageBuild, job.StageProfile},
	}[models.Measured(mode)]
	if lang == tasks.LangPython && len(stages) > 0 {
		return stages[1:]
	}
	return stages
}

// mergeStages puts the ended stages, the one that goes on and those to come in one row.
func mergeStages(planned []job.Stage, ended []job.StageResult, now []views.StageView, over bool) []views.StageView {
	var all []views.StageView
	seen := map[job.Stage]bool{}
	for _, r := range ended {
		all = append(all, views.StageView{Result: r, Ended: true})
		seen[r.Stage] = true
	}
	for _, stage := range now {
		if !seen[stage.Result.Stage] {
			all = append(all, stage)
			seen[stage.Result.Stage] = true
		}
	}
	for _, stage := range planned {
		if !seen[stage] {
			all = append(all, views.StageView{Result: job.StageResult{Stage: stage}, Skipped: over})
		}
	}
	return all
}

// TimelineOf lays out what the time of a run went into, and of the profile that followed it.
func TimelineOf(run models.Run, left Evidence) (vm charts.TimelineVM) {
	vm.Spans = spans(run, left.Stages, "")
	if p := left.Profile; p.Run.ID != 0 && p.Run.ID != run.ID {
		vm.Spans = append(vm.Spans, spans(p.Run, p.Stages, "for the profile")...)
	}
	return vm
}

// spans are a run's wait and the stages of its last attempt.
func spans(run models.Run, stages []job.StageResult, note string) []charts.TimeSpan {
	if run.StartedAt == nil {
		return nil
	}
	spans := []charts.TimeSpan{{Name: "Queued", Start: run.QueuedAt, End: *run.StartedAt, Note: note}}
	for _, r := range stages {
		span := charts.TimeSpan{
			Name: views.StageView{Result: r}.Name(), Start: r.Started, End: r.Ended, Status: string(r.Status), Note: note,
		}
		if r.Cached {
			span.Note = strings.TrimSuffix("from the cache, "+note, ", ")
		}
		spans = append(spans, span)
	}
	return spans
}

// MeasuredStage is the stage whose times count for a run: the ranked one, else the benchmark.
func MeasuredStage(stages []job.StageResult) job.StageResult {
	var found job.StageResult
	for _, r := range stages {
		if r.Stage == job.StageRanked || r.Stage == job.StageBenchmark {
			found = r
		}
	}
	return found
}
