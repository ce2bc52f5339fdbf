package fleet

import (
	"context"
	"slices"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
)

// PackagesFor lists the packages of each live worker that takes jobs for a device.
func PackagesFor(workers []Worker, device string, at time.Time) (list []requirement.Packages) {
	for _, w := range workers {
		if w.Live(at) && slices.ContainsFunc(w.Slots, func(s job.Slot) bool { return s.Device == device && w.Takes(s) }) {
			list = append(list, w.Packages)
		}
	}
	return list
}

// Lack returns why work with joined requirements waits although its device may have free slots: the end of a sentence
// that begins with "It waits for". It is empty if a worker meets them.
func (s *Fleet) Lack(ctx context.Context, device, requires string, at time.Time) (string, error) {
	if requires == "" {
		return "", nil
	}
	workers, err := s.Workers(ctx)
	return s.LackOf(workers, device, requires, at), err
}

// LackOf is Lack for callers that have read the workers.
func (s *Fleet) LackOf(workers []Worker, device, requires string, at time.Time) string {
	if requires == "" {
		return ""
	}
	return requirement.Lack(s.Needs(requires), device, PackagesFor(workers, device, at))
}

// Needs parses joined requirements, and keeps them: workers ask for work all the time, and the longest take 2 ms.
func (s *Fleet) Needs(joined string) []requirement.Requirement {
	list, ok := s.needs.Get(joined)
	if !ok {
		list = requirement.Split(joined)
		s.needs.Put(joined, list, parsedSize*int64(1+len(joined)))
	}
	return list
}

// parsedSize is about the size of a parsed requirement, relative to its text.
const parsedSize = 20
