package evaluator

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
)

// checkResults has the latest results of tests of the slots and the machine. The zero value is ready to use. mu guards
// all, which has at most one entry per slot and name.
type checkResults struct {
	mu      sync.Mutex
	results []checkResult
}

// checkResult is the result of one test on one slot, or of the machine if slot is -1.
type checkResult struct {
	name   string
	slot   int
	detail string
	err    error
}

// recordSlot stores the result of a test program on a slot.
func (f *checkResults) note(name string, s device.Slot, err error, detail string) {
	f.replace(checkResult{name + " on " + s.Device, s.Index, detail, err})
}

// recordMachine stores the result of a test of the machine.
func (f *checkResults) recordMachine(name string, err error, detail string) {
	f.replace(checkResult{name, -1, detail, err})
}

func (f *checkResults) replace(one checkResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.results, func(old checkResult) bool { return old.name == one.name && old.slot == one.slot })
	if at < 0 {
		f.results = append(f.results, one)
		return
	}
	f.results[at] = one
}

// lines returns one line per test for the page of devices: the slots on which it failed, or that it passed on all.
func (f *checkResults) lines() []job.CheckResult {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []job.CheckResult
	var names []string
	for _, one := range f.results {
		if slices.Contains(names, one.name) {
			continue
		}
		names = append(names, one.name)
		list = append(list, f.line(one))
	}
	return list
}

// line summarizes all results with the same name as one, the first of them.
func (f *checkResults) line(one checkResult) job.CheckResult {
	line := job.CheckResult{Name: one.name, OK: true, Detail: one.detail}
	count, failed := 0, []string{}
	for _, other := range f.results {
		if other.name != one.name {
			continue
		}
		count++
		if other.err != nil {
			// If a test failed on several slots, the line has the text of the last failure and the numbers of all
			// slots.
			line.OK, line.Detail = false, attempt.ErrorSentence(other.err)
			failed = append(failed, fmt.Sprint(other.slot))
		}
	}
	if count > 1 && line.OK {
		line.Detail = fmt.Sprintf("%s (slot %d; %d slots in all)", line.Detail, one.slot, count)
	}
	if count > 1 && !line.OK {
		line.Detail = fmt.Sprintf("Slot %s: %s", strings.Join(failed, ", "), line.Detail)
	}
	return line
}
