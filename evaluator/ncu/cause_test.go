package ncu

import (
	"slices"
	"testing"
)

// only returns a report with one kernel of a fixture.
func only(t *testing.T, name string, kernel int) *Report {
	r := ParsePages(pages(t, name))
	return &Report{Kernels: r.Kernels[kernel : kernel+1]}
}

func keys(w Explanation) (list []string) {
	for _, c := range w.Causes {
		list = append(list, c.Key)
	}
	return list
}

func TestCausesAreCountersThatTheSlowerKernelHasMoreOf(t *testing.T) {
	naive, tensor, strided, saxpy := only(t, "cuda4", 1), only(t, "tri", 0), only(t, "cuda4", 2), only(t, "cuda4", 0)
	for _, c := range []struct {
		what       string
		slow, fast *Report
		want, not  []string
	}{
		// Two matrix products: of 1024³ with one thread per element, and a library's of 4096³ on tensor cores.
		{"a naive product and one on tensor cores", naive, tensor,
			[]string{CauseTensorCores, CauseGlobalLoads, CauseInstructions, "stall: LG throttle"},
			[]string{CauseDRAM, CauseWarps}},
		{"a strided transpose and a stream", strided, saxpy, []string{CauseGlobalSectors, "stall: Drain"},
			[]string{CauseDRAM, CauseTensorCores, CauseGlobalLoads}},
	} {
		w, ok := ExplainDifference(c.slow, c.fast)
		if !ok || w.TimeRatio >= 1 || w.PairShare != 1 || w.KernelA != &c.slow.Kernels[0] {
			t.Fatalf("%s: %v, %+v", c.what, ok, w)
		}
		found := keys(w)
		for _, key := range c.want {
			if !slices.Contains(found, key) {
				t.Errorf("%s: %v lacks %s", c.what, found, key)
			}
		}
		for _, key := range c.not {
			if slices.Contains(found, key) {
				t.Errorf("%s: %v has %s", c.what, found, key)
			}
		}
		back, _ := ExplainDifference(c.fast, c.slow)
		for i, cause := range w.Causes {
			if cause.ExplainedShare < minExplainedShare || cause.ExplainedShare > 1 || i > 0 && cause.ExplainedShare > w.Causes[i-1].ExplainedShare {
				t.Errorf("%s: cause %d is %+v", c.what, i, cause)
			}
			if mirrored := back.Causes[i]; mirrored.Key != cause.Key || mirrored.ValueA != cause.ValueB ||
				mirrored.ValueB != cause.ValueA {
				t.Errorf("%s: from the other side cause %d is %+v, want %+v", c.what, i, mirrored, cause)
			}
		}
	}
}

func TestNothingIsExplainedOfWhatIsTheSame(t *testing.T) {
	r := only(t, "cuda4", 0)
	if w, ok := ExplainDifference(r, r); ok {
		t.Errorf("one report against itself: %+v", w)
	}
	if w, ok := ExplainDifference(r, &Report{}); ok {
		t.Errorf("a report without kernels: %+v", w)
	}
	// Reports that have times but no counters give no causes.
	slow := &Report{Kernels: []Kernel{{Metrics: map[string]Metric{"gpu__time_duration.sum": NewMetric("900", "us")}}}}
	if w, ok := ExplainDifference(r, slow); !ok || len(w.Causes) != 0 {
		t.Errorf("a kernel without counters: %v, %+v", ok, w)
	}
}

func TestKernelsThatOneSideDoesWithoutAreNamed(t *testing.T) {
	all := ParsePages(pages(t, "cuda4"))
	w, ok := ExplainDifference(all, &Report{Kernels: all.Kernels[:2]})
	if !ok || !slices.Equal(w.UnpairedKernels, []string{"transpose_strided", "reduce_shared"}) || w.UnpairedKernelsShare < 0.999 ||
		w.KernelA != nil {
		t.Errorf("%v, %+v", ok, w)
	}
}
