package runs

import (
	"context"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/views"
	"warpboard/views/charts"
)

// Timeline lays out what the time of a run went into, and of the profile that followed it.
func (s *Runs) Timeline(ctx context.Context, run models.Run) (vm charts.TimelineVM, err error) {
	if vm.Spans, err = s.spans(ctx, run, ""); err != nil {
		return vm, err
	}
	profile, err := s.Store.ProfileRun(ctx, run)
	if models.KindOf(err) == models.NotFound || profile.ID == run.ID {
		return vm, nil
	}
	if err != nil {
		return vm, err
	}
	after, err := s.spans(ctx, profile, "for the profile")
	vm.Spans = append(vm.Spans, after...)
	return vm, err
}

// spans are a run's wait and the stages of its last attempt.
func (s *Runs) spans(ctx context.Context, run models.Run, note string) ([]charts.TimeSpan, error) {
	stages, err := s.Store.Stages(ctx, run.ID)
	if err != nil || run.StartedAt == nil {
		return nil, err
	}
	spans := []charts.TimeSpan{{Name: "Queued", Start: run.QueuedAt, End: *run.StartedAt, Note: note}}
	for _, r := range StagesOfAttempt(run, stages) {
		span := charts.TimeSpan{
			Name: views.StageView{Result: r}.Name(), Start: r.Started, End: r.Ended, Status: string(r.Status), Note: note,
		}
		if r.Cached {
			span.Note = strings.TrimSuffix("from the cache, "+note, ", ")
		}
		spans = append(spans, span)
	}
	return spans, nil
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
