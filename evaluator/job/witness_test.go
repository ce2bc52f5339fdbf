package job

import "testing"

func TestContradictionComparesEachCaseWithItsKernels(t *testing.T) {
	kernel := func(ns float64, launches int) []Kernel { return []Kernel{{Name: "k", LaunchCount: launches, NS: ns}} }
	ranked := []CaseResult{{Index: 0, Mean: 52_400}, {Index: 1, Mean: 188_000}}
	hidden := "case 2 took 188.0 µs, and its kernels take 201.0 µs under Nsight Compute"
	for name, c := range map[string]struct {
		profiled []CaseResult
		want     string
	}{
		"as long as its kernels":       {[]CaseResult{{Index: 0, Kernels: kernel(52_400, 1)}, {Index: 1, Kernels: kernel(187_000, 1)}}, ""},
		"within one part in a hundred": {[]CaseResult{{Index: 0, Kernels: kernel(52_900, 1)}}, ""},
		"eight dependent launches":     {[]CaseResult{{Index: 0, Kernels: kernel(65_800, 8)}}, ""},
		"two launches of which half is hidden": {[]CaseResult{{Index: 0, Kernels: kernel(100_000, 2)}},
			"case 1 took 52.4 µs, and its kernels take 100.0 µs under Nsight Compute"},
		"13 µs are hidden":        {[]CaseResult{{Index: 0, Kernels: kernel(52_000, 1)}, {Index: 1, Kernels: kernel(201_000, 1)}}, hidden},
		"one case has no profile": {[]CaseResult{{Index: 1, Kernels: kernel(201_000, 1)}}, hidden},
		"no profile":              {nil, ""},
		"no times":                {[]CaseResult{{Index: 0, Kernels: kernel(0, 1)}}, ""},
	} {
		if got := ProfileContradiction(ranked, c.profiled); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
