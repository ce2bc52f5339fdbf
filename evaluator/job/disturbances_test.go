package job

import (
	"strings"
	"testing"
)

func TestReasonsOfBadConditions(t *testing.T) {
	for name, c := range map[string]struct {
		seen Disturbances
		want string
	}{
		"nothing is known": {Disturbances{}, ""},
		"a steady GPU":     {Disturbances{ClockSamples: 60, LowClockSamples: 6, ProcessSamples: 12}, ""},
		"a GPU whose clock fell": {Disturbances{ClockSamples: 60, LowClockSamples: 7},
			"clock more than a tenth below its highest in 7 of 60 samples"},
		"a hot GPU": {Disturbances{SlowdownCause: "hardware thermal slowdown"},
			"slowed down: hardware thermal slowdown"},
		"a neighbour": {Disturbances{ProcessSamples: 12, ForeignProcessSamples: 1},
			"another process on the device in 1 of 12 samples"},
		"a busy machine":        {Disturbances{LoadAverage: 3, ProcessorCount: 2}, ""},
		"an overloaded machine": {Disturbances{LoadAverage: 3.1, ProcessorCount: 2}, "load average of 3.1 on 2 processors"},
		"all of it": {Disturbances{ClockSamples: 1, LowClockSamples: 1, ProcessSamples: 1, ForeignProcessSamples: 1, SlowdownCause: "x",
			LoadAverage: 9, ProcessorCount: 1}, "; "},
		"load where it is not judged": {Disturbances{LoadAverage: 100}, ""},
	} {
		if got := strings.Join(c.seen.Reasons(), "; "); got != c.want && (c.want != "; " || strings.Count(got, "; ") != 3) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
