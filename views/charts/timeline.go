package charts

import (
	"encoding/json"
	"fmt"
	"time"

	"warpboard/views/format"
)

// TimelineView has the parts of a run from the queue to its end.
type TimelineView struct {
	Spans    []TimeSpan // in order of their start
	TraceURL string     // URL of the Chrome trace; may be empty
}

// TimeSpan is one part of a run.
type TimeSpan struct {
	Name       string // "Queued", "Build", "Ranked"
	Start      time.Time
	End        time.Time
	Status     string // status at its end: "pass", "fail"; empty for waiting
	EndingText string // status in words: "wrong answer"; empty if it passed or waited
	Note       string // addition to the name: "from the cache"
}

// IsWaiting reports whether the run only waited.
func (s TimeSpan) IsWaiting() bool { return s.Status == "" }

func (s TimeSpan) duration() time.Duration { return max(s.End.Sub(s.Start), 0) }

func (s TimeSpan) cssClass() string {
	switch {
	case s.IsWaiting():
		return "pf-wait"
	case s.Status != "pass":
		return "pf-stop"
	}
	return "pf-fill"
}

// startAndLength returns the first start and the total length.
func (vm TimelineView) startAndLength() (time.Time, time.Duration) {
	if len(vm.Spans) == 0 {
		return time.Time{}, 0
	}
	first, last := vm.Spans[0].Start, vm.Spans[0].End
	for _, s := range vm.Spans {
		if s.Start.Before(first) {
			first = s.Start
		}
		if s.End.After(last) {
			last = s.End
		}
	}
	return first, last.Sub(first)
}

// omittedWait returns the part of a wait that its bar omits, because a long one would leave no space for the work.
func (vm TimelineView) omittedWait(s TimeSpan) time.Duration {
	var work time.Duration
	for _, other := range vm.Spans {
		if !other.IsWaiting() {
			work += other.duration()
		}
	}
	if !s.IsWaiting() || work == 0 {
		return 0
	}
	return max(s.duration()-work/5, 0)
}

// spanPosition returns the start and the length of a span in thousandths of the timeline; a short span stays visible.
func (vm TimelineView) spanPosition(s TimeSpan) (x, width float64) {
	first, whole := vm.startAndLength()
	at := s.Start.Sub(first)
	for _, other := range vm.Spans {
		whole -= vm.omittedWait(other)
		if other.Start.Before(s.Start) {
			at -= vm.omittedWait(other)
		}
	}
	if whole <= 0 {
		return 0, 1000
	}
	x = 1000 * float64(at) / float64(whole)
	width = max(1000*float64(s.duration()-vm.omittedWait(s))/float64(whole), 3)
	return min(max(x, 0), 997), width
}

func (vm TimelineView) totalText() string {
	_, whole := vm.startAndLength()
	return format.Duration(whole)
}

type traceEvent struct {
	Name     string            `json:"name"`
	Category string            `json:"cat"`
	Phase    string            `json:"ph"`  // "X": a complete event
	Start    int64             `json:"ts"`  // microseconds since the run was queued
	Length   int64             `json:"dur"` // microseconds
	Process  int               `json:"pid"`
	Thread   int               `json:"tid"`
	Args     map[string]string `json:"args,omitempty"`
}

// TraceJSON returns the timeline in the Chrome trace format, which Perfetto and chrome://tracing open.
func TraceJSON(vm TimelineView) ([]byte, error) {
	first, _ := vm.startAndLength()
	events := make([]traceEvent, len(vm.Spans))
	for i, s := range vm.Spans {
		e := traceEvent{
			Name: s.Name, Category: "run", Phase: "X", Process: 1, Thread: 1,
			Start: s.Start.Sub(first).Microseconds(), Length: s.duration().Microseconds(),
		}
		if s.Status != "" {
			e.Args = map[string]string{"status": s.Status}
		}
		events[i] = e
	}
	out, err := json.Marshal(map[string]any{"traceEvents": events, "displayTimeUnit": "ms"})
	if err != nil {
		return nil, fmt.Errorf("write the timeline as a trace: %w", err)
	}
	return out, nil
}
