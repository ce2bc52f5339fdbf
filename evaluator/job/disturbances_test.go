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
		"a steady GPU":     {Disturbances{AtWork: 60, LowClock: 6, Samples: 12}, ""},
		"a GPU whose clock fell": {Disturbances{AtWork: 60, LowClock: 7},
			"clock more than a tenth below its highest in 7 of 60 samples"},
		"a hot GPU": {Disturbances{Slowed: "hardware thermal slowdown"},
			"slowed down: hardware thermal slowdown"},
		"a neighbour": {Disturbances{Samples: 12, Others: 1},
			"another process on the device in 1 of 12 samples"},
		"a busy machine":        {Disturbances{Load: 3, Processors: 2}, ""},
		"an overloaded machine": {Disturbances{Load: 3.1, Processors: 2}, "load average of 3.1 on 2 processors"},
		"all of it": {Disturbances{AtWork: 1, LowClock: 1, Samples: 1, Others: 1, Slowed: "x",
			Load: 9, Processors: 1}, "; "},
		"load where it is not judged": {Disturbances{Load: 100}, ""},
	} {
		if got := strings.Join(c.seen.Reasons(), "; "); got != c.want && (c.want != "; " || strings.Count(got, "; ") != 3) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
