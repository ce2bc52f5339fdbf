package harness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warpboard/evaluator/harness/pairtest"
	"warpboard/internal/test/tier"
)

// Mapping the memory of a small input once took 500 to 1,000 µs, of which only 20 µs were subtracted. The test compares
// the fastest calls, because busy test machines delay some calls.
func TestTheHandoverOfInputsDoesNotCountAsKernelTime(t *testing.T) {
	tier.Needs(t, tier.Timed)
	const kernel, most = 57_000, 250_000
	n := newNative(t, testdata(t, "mapping/task.h", "mapping/reference.h", "mapping/honest.cpp", "mapping/reads.cpp"))
	n.buildAll(t, map[string][]string{
		"judge": {"eval.cpp"}, "honest": {"warpboard_runner.cpp", "honest.cpp"},
		"reads": {"warpboard_runner.cpp", "honest.cpp", "reads.cpp"}})
	cases := ""
	// each smaller than the previous one, whose larger memory must not be mapped
	sizes := []int{4 << 20, 256 << 10, 4 << 10}
	for i, size := range sizes {
		cases += fmt.Sprintf("size: %d; ns: %d; seed: %d\n", size/4, kernel, i)
	}
	took := map[string][]float64{}
	for _, runner := range []string{"honest", "reads"} {
		r := pairtest.Run(t, n.program("judge"), n.program(runner), "benchmark", cases)
		if parseReport(r.Report).Verdict() != "pass" {
			t.Fatalf("%s: %v\n%s\n%s", runner, r.Judge, r.Report, r.Stderr)
		}
		took[runner] = quickest(t, r.Report, len(sizes))
	}
	for i, size := range sizes {
		honest, reads := took["honest"][i], took["reads"][i]
		if honest > kernel+most {
			t.Errorf("%d bytes: a kernel of %d ns is shown with %.0f", size, kernel, honest)
		}
		if reads < honest-most {
			t.Errorf("%d bytes: who reads the input in place of mapping it is shown with %.0f ns, not with %.0f", size,
				reads, honest)
		}
	}
}

// The limit of the subtracted cost of an empty call must depend on the case's own input, not on the previous case's. It
// is 20 µs for inputs that are not mapped.
func TestACaseAfterASmallerOneHasItsOwnBound(t *testing.T) {
	tier.Needs(t, tier.Judge)
	n := newNative(t, testdata(t, "mapping/task.h", "mapping/reference.h", "mapping/honest.cpp"))
	n.buildAll(t, map[string][]string{"judge": {"eval.cpp"}, "honest": {"warpboard_runner.cpp", "honest.cpp"}})
	const small, large = 4 << 10, 16 << 20
	cases := ""
	for i, size := range []int{small, large} {
		cases += fmt.Sprintf("size: %d; ns: 1000; seed: %d\n", size/4, i)
	}
	r := pairtest.Run(t, n.program("judge"), n.program("honest"), "benchmark", cases)
	_, rest, found := strings.Cut(r.Report, "benchmark.1.handover: ")
	ns, _, _ := strings.Cut(rest, "\n")
	if handover, err := strconv.ParseFloat(ns, 64); !found || err != nil || handover <= 20_000 {
		t.Errorf("%s ns are subtracted of %d bytes: %v, %v\n%s", ns, large, err, r.Judge, r.Report)
	}
}

// quickest returns the shortest call of each case by the judge's clock, in nanoseconds.
func quickest(t *testing.T, report string, cases int) (shortest []float64) {
	t.Helper()
	for i := range cases {
		_, rest, _ := strings.Cut(report, fmt.Sprintf("benchmark.%d.walls: ", i))
		list, _, _ := strings.Cut(rest, "\n")
		var calls []float64
		for text := range strings.SplitSeq(list, ",") {
			ns, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("case %d: %v in\n%s", i, err, report)
			}
			calls = append(calls, ns)
		}
		shortest = append(shortest, slices.Min(calls))
	}
	return shortest
}
