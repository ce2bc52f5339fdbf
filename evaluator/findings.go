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

// testProgramResults has the latest results of tests of the slots and the machine. The zero value is ready to use. mu
// guards all, which has at most one entry per slot and name.
type testProgramResults struct {
	mu      sync.Mutex
	results []testProgramResult
}

// testProgramResult is the result of one test on one slot, or of the machine if slot is -1.
type testProgramResult struct {
	name   string
	slot   int
	detail string
	err    error
}

// recordSlot stores the result of a test program on a slot.
func (f *testProgramResults) recordSlot(name string, s device.Slot, err error, detail string) {
	f.replaceResult(testProgramResult{name + " on " + s.Device, s.Index, detail, err})
}

// recordMachine stores the result of a test of the machine.
func (f *testProgramResults) recordMachine(name string, err error, detail string) {
	f.replaceResult(testProgramResult{name, -1, detail, err})
}

func (f *testProgramResults) replaceResult(one testProgramResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.results, func(old testProgramResult) bool { return old.name == one.name && old.slot == one.slot })
	if at < 0 {
		f.results = append(f.results, one)
		return
	}
	f.results[at] = one
}

// summarizeTests returns one line per test for the page of devices: the slots on which it failed, or that it passed on
// all.
func (f *testProgramResults) summarizeTests() []job.SelfTestResult {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []job.SelfTestResult
	var names []string
	for _, one := range f.results {
		if slices.Contains(names, one.name) {
			continue
		}
		names = append(names, one.name)
		list = append(list, f.summarizeTest(one))
	}
	return list
}

// summarizeTest returns one line for all results with the name of one. It is called once per name, with the first
// result.
func (f *testProgramResults) summarizeTest(one testProgramResult) job.SelfTestResult {
	line := job.SelfTestResult{Name: one.name, Passed: true, Detail: one.detail}
	count, failed := 0, []string{}
	for _, other := range f.results {
		if other.name != one.name {
			continue
		}
		count++
		if other.err != nil {
			// If a test failed on several slots, the line has the text of the last failure and the numbers of all
			// slots.
			line.Passed, line.Detail = false, attempt.ErrorSentence(other.err)
			failed = append(failed, fmt.Sprint(other.slot))
		}
	}
	if count > 1 && line.Passed {
		line.Detail = fmt.Sprintf("%s (slot %d; %d slots in all)", line.Detail, one.slot, count)
	}
	if count > 1 && !line.Passed {
		line.Detail = fmt.Sprintf("Slot %s: %s", strings.Join(failed, ", "), line.Detail)
	}
	return line
}
