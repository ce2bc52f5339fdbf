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

// findings is what the tests of slots and machine showed last. The zero value is ready.
// mu guards all, which grows with the tests there are and not with time: each slot and name has one entry, the last.
type findings struct {
	mu  sync.Mutex
	all []finding
}

// finding is the outcome of one test on one slot; slot -1 is the machine.
type finding struct {
	name   string
	slot   int
	detail string
	err    error
}

// note keeps how a program ended on a slot.
func (f *findings) note(name string, s device.Slot, err error, detail string) {
	f.put(finding{name + " on " + s.Device, s.Index, detail, err})
}

// noteMachine keeps what was found of the machine.
func (f *findings) noteMachine(name string, err error, detail string) {
	f.put(finding{name, -1, detail, err})
}

func (f *findings) put(one finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.all, func(old finding) bool { return old.name == one.name && old.slot == one.slot })
	if at < 0 {
		f.all = append(f.all, one)
		return
	}
	f.all[at] = one
}

// lines are the findings for the queue page, one for each name: what went wrong on some slots, or what all of them showed.
func (f *findings) lines() []job.CheckLine {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []job.CheckLine
	var names []string
	for _, one := range f.all {
		if slices.Contains(names, one.name) {
			continue
		}
		names = append(names, one.name)
		list = append(list, f.line(one))
	}
	return list
}

// line is what was found under the name of one, which was found first.
func (f *findings) line(one finding) job.CheckLine {
	line := job.CheckLine{Name: one.name, OK: true, Detail: one.detail}
	count, failed := 0, []string{}
	for _, other := range f.all {
		if other.name != one.name {
			continue
		}
		count++
		if other.err != nil {
			// Of several slots that fail the last one's words are shown; all their numbers are.
			line.OK, line.Detail = false, attempt.Sentence(other.err)
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
