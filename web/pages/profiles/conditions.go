package profiles

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/epochs"
	"warpboard/views/format"
)

const (
	otherClock = 0.02           // relative difference of a clock that may show in times
	longAfter  = 24 * time.Hour // machines differ from day to day
)

// conditionsOf says whether the two runs were measured under the same conditions, in a sentence; apart: the times show a
// difference, which other conditions may explain.
func conditionsOf(a, b comparedRun, apart bool) string {
	if a.Run.Machine == nil || b.Run.Machine == nil {
		return "The conditions of one of the runs are unknown."
	}
	disturbed, explain := disturbedOf(a, b, apart), ""
	if apart {
		explain = ", which may explain part of the difference"
	}
	if differ := differences(a, b); len(differ) > 0 {
		return strings.TrimSpace("Conditions differ" + explain + ": " + strings.Join(differ, "; ") + ". " + disturbed)
	}
	if disturbed != "" {
		return disturbed
	}
	return fmt.Sprintf("Conditions are the same: the same %s, the same software%s.", a.Run.Device, sameClock(*a.Run.Machine))
}

// disturbedOf names the runs that were disturbed, in a sentence; empty: none was.
func disturbedOf(a, b comparedRun, apart bool) string {
	ends := ": a quiet machine may show a difference."
	if apart {
		ends = ": the machine may explain the difference."
	}
	whyA, whyB := a.Run.Disturbed, b.Run.Disturbed
	switch {
	case whyA != "" && whyB != "":
		return fmt.Sprintf("Both runs were disturbed (%s: %s; %s: %s)%s", nameOf(a, b), whyA, nameOf(b, a), whyB, ends)
	case whyA != "":
		return fmt.Sprintf("%s was disturbed (%s)%s", nameOf(a, b), whyA, ends)
	case whyB != "":
		return fmt.Sprintf("%s was disturbed (%s)%s", nameOf(b, a), whyB, ends)
	}
	return ""
}

// differences lists what differs besides the kernels, from A to B, what matters most first.
func differences(a, b comparedRun) (list []string) {
	was, is := *a.Run.Machine, *b.Run.Machine
	add := func(name, from, to string) {
		if from != to {
			list = append(list, fmt.Sprintf("%s %s → %s", name, said(from), said(to)))
		}
	}
	add("task", a.Task.Title, b.Task.Title)
	if a.Task.ID == b.Task.ID {
		add("version of the task", strconv.Itoa(a.Version.Number), strconv.Itoa(b.Version.Number))
	}
	add("device", a.Run.Device, b.Run.Device)
	add("measured by", a.Run.Harness, b.Run.Harness)
	list = append(list, softwareOf(was).Changes(softwareOf(is))...)
	if a.Run.Device == b.Run.Device && was.UUIDHash != is.UUIDHash {
		list = append(list, fmt.Sprintf("another %s", a.Run.Device))
	}
	add("processor", was.Name, is.Name)
	for _, clock := range []struct{ name, key string }{{"SM clock", "sm_clock"}, {"memory clock", "memory_clock"}} {
		if from, to := was.Conditions[clock.key], is.Conditions[clock.key]; clocksDiffer(from, to) {
			add(clock.name, rangeOf(from), rangeOf(to))
		}
	}
	add("throttled by", was.Conditions["throttle_reasons"], is.Conditions["throttle_reasons"])
	if apart := b.Run.QueuedAt.Sub(a.Run.QueuedAt).Abs(); apart >= longAfter {
		list = append(list, format.Plural(int(apart/longAfter), "day", "days")+" between them")
	}
	return list
}

func softwareOf(m job.Machine) epochs.Software {
	return epochs.Software{Driver: m.Driver, CUDA: m.CUDA, Compiler: m.Compiler, Torch: m.Torch, Triton: m.Triton, Harness: m.Harness}
}

func said(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// rangeOf is "1200–1980 MHz" of "1200–1980 MHz, 1980 at the start, 1755 at the end".
func rangeOf(seen string) string {
	text, _, _ := strings.Cut(seen, ",")
	return text
}

// clocksDiffer compares the lowest and the highest sampled clock. A missing value on one side is not a difference.
func clocksDiffer(a, b string) bool {
	lowA, highA := ends(a)
	lowB, highB := ends(b)
	return other(lowA, lowB) || other(highA, highB)
}

func other(a, b float64) bool { return a > 0 && b > 0 && math.Abs(a-b) > otherClock*max(a, b) }

func ends(seen string) (low, high float64) {
	number, _, _ := strings.Cut(rangeOf(seen), " ")
	from, to, isRange := strings.Cut(number, "–")
	if !isRange {
		to = from
	}
	low, _ = strconv.ParseFloat(from, 64)
	high, _ = strconv.ParseFloat(to, 64)
	return low, high
}

func sameClock(m job.Machine) string {
	if m.Conditions["sm_clock"] == "" {
		return ""
	}
	return ", clocks within 2 %"
}
