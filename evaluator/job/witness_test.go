package job

import "testing"

func TestWitnessComparesEachCaseWithItsKernels(t *testing.T) {
	kernel := func(ns float64, launches int) []Kernel { return []Kernel{{Name: "k", Launches: launches, NS: ns}} }
	ranked := []CaseResult{{Index: 0, Mean: 52_400}, {Index: 1, Mean: 188_000}}
	for name, c := range map[string]struct {
		profiled []CaseResult
		want     string // "backed", "unknown", or the sentence
	}{
		"as long as its kernels": {[]CaseResult{{Index: 0, Kernels: kernel(52_400, 1)}, {Index: 1, Kernels: kernel(187_000, 1)}}, "backed"},
		"within one part in a hundred": {
			[]CaseResult{{Index: 0, Kernels: kernel(52_900, 1)}, {Index: 1, Kernels: kernel(187_000, 1)}}, "backed"},
		"13 µs are hidden": {[]CaseResult{{Index: 0, Kernels: kernel(52_000, 1)}, {Index: 1, Kernels: kernel(201_000, 1)}},
			"case 2 took 188.0 µs, and its kernels take 201.0 µs under Nsight Compute"},
		"six kernels of a graph":  {[]CaseResult{{Index: 0, Kernels: kernel(57_000, 6)}, {Index: 1, Kernels: kernel(187_000, 1)}}, "backed"},
		"no profile":              {nil, "unknown"},
		"one case has no profile": {[]CaseResult{{Index: 0, Kernels: kernel(52_400, 1)}}, "unknown"},
		"later launches are not seen": {
			[]CaseResult{{Index: 0, Kernels: kernel(20_000, MostLaunches)}, {Index: 1, Kernels: kernel(187_000, 1)}}, "unknown"},
		"one kernel has no time": {[]CaseResult{{Index: 0, Kernels: kernel(0, 1)}, {Index: 1, Kernels: kernel(187_000, 1)}}, "unknown"},
		"the other case hides it, too": {[]CaseResult{{Index: 1, Kernels: kernel(201_000, 1)}},
			"case 2 took 188.0 µs, and its kernels take 201.0 µs under Nsight Compute"},
	} {
		backed, got := Witness(ranked, c.profiled)
		switch {
		case backed == nil && got == "":
			got = "unknown"
		case backed != nil && *backed && got == "":
			got = "backed"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if backed, why := Witness(nil, nil); backed != nil || why != "" {
		t.Errorf("no cases: %v, %q", backed, why)
	}
}
