package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
)

// PackagesForDevice lists the packages of each live worker that runs jobs for a device.
func PackagesForDevice(workers []Worker, device string, at time.Time) (list []requirement.Packages) {
	for _, w := range workers {
		if w.IsLive(at) && slices.ContainsFunc(w.Slots, func(s job.Slot) bool { return s.Device == device && w.AcceptsJobsOn(s) }) {
			list = append(list, w.Packages)
		}
	}
	return list
}

// MissingWorkerText describes the worker for which work with the given requirements waits although the device may have
// free slots. It continues the sentence "It waits for". It returns "" if a live worker meets the requirements.
func (s *Fleet) MissingWorkerText(ctx context.Context, device, requires string, at time.Time) (string, error) {
	if requires == "" {
		return "", nil
	}
	workers, err := s.Workers(ctx)
	return s.MissingWorkerTextAmong(workers, device, requires, at), err
}

// MissingWorkerTextAmong is MissingWorkerText for callers that have read the workers.
func (s *Fleet) MissingWorkerTextAmong(workers []Worker, device, requires string, at time.Time) string {
	if requires == "" {
		return ""
	}
	return requirement.MissingWorkerText(s.ParseRequirements(requires), device, PackagesForDevice(workers, device, at))
}

// ParseRequirements parses joined requirements and caches the result, because workers request work frequently and
// parsing the longest takes 2 ms.
func (s *Fleet) ParseRequirements(joined string) []requirement.Requirement {
	list, ok := s.requirementCache.Get(joined)
	if !ok {
		list = requirement.List(strings.Fields(joined)).Requirements()
		s.requirementCache.Put(joined, list, parsedSizeRatio*int64(1+len(joined)))
	}
	return list
}

// parsedSizeRatio is the approximate size of a parsed requirement in memory, relative to its text. It weighs entries of
// the cache.
const parsedSizeRatio = 20
