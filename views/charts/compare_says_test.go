package charts

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/versus"
	"warpboard/tasks"
)

// TestTheSentencesClaimNoMoreThanTheDataShow reads what is on top of a comparison, in the cases that it can be.
func TestTheSentencesClaimNoMoreThanTheDataShow(t *testing.T) {
	side := func(times ...float64) (list []job.CaseResult) {
		for i, ns := range times {
			list = append(list, processes([]string{"n: 1", "n: 2", "n: 3"}[i], 1e3*ns))
		}
		return list
	}
	untimed := []job.CaseResult{{Spec: "n: 1", Status: job.StatusFail}}
	once := []job.CaseResult{{Spec: "n: 1", Status: job.StatusPass, Mean: 500e3, Err: 0.1}}
	for name, c := range map[string]struct {
		a, b    []job.CaseResult
		version string
		same    bool
		want    []string
	}{
		"faster": {a: side(1000, 1000, 1000), b: side(500, 1000, 2000), version: "time of the last case",
			want: []string{"#15 is 2.00× slower than #12 (1.97× to 2.03× at 99 %; time of the last case).",
				"Of 3 cases that both ran, #15 is faster in 1 (most at n: 1: 2.00×), slower in 1 (most at n: 3: 2.00×); the data show no difference in 1."}},
		"no difference": {a: side(1000, 1000), b: side(1001, 999), version: "mean",
			want: []string{"No significant difference: #15 takes 0.982× to 1.016× the time of #12 (99 % interval; mean).",
				"The data show no difference in any of 2 cases that both ran."}},
		"another version": {a: side(1000, 1000), b: side(500),
			want: []string{"#15 is 2.00× faster than #12 (1.97× to 2.03× at 99 %; geometric mean of the cases that both ran).",
				"Of 1 case that both ran, #15 is faster in 1 (most at n: 1: 2.00×). 1 case was timed on one side only."}},
		"the same source": {a: side(1000), b: side(1100), version: "mean", same: true,
			want: []string{"Both ran the same source: #15 took 1.100× the time of #12 by chance or because of the conditions.", ""}},
		"one process": {a: side(1000), b: once, version: "mean",
			want: []string{"No significant difference: #15 took 0.50× the time of #12 (mean), but each was measured in too few fresh processes for an interval.", ""}},
		"not timed": {a: side(1000), b: untimed, version: "mean",
			want: []string{"The two runs have no timed case in common, so their speeds cannot be compared.", ""}},
	} {
		vm := CompareVM{A: Side{Short: "#12"}, B: Side{Short: "#15"}, Finding: versus.Compare(tasks.RankLast, c.a, c.b), Ranking: c.version, SameSource: c.same}
		if diff := cmp.Diff(c.want, []string{vm.Faster(), vm.Where()}); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestDumbbellsStayInTheDrawingAndShowSmallDifferences(t *testing.T) {
	d := newDumbbells(versus.Compare(tasks.RankLast, []job.CaseResult{processes("n: 1", 1000), processes("n: 2", 1e9)},
		[]job.CaseResult{processes("n: 1", 1050), processes("n: 2", 1e9)}).Cases)
	if len(d.rows) != 2 || d.rows[0].a.at == d.rows[0].b.at || d.rows[1].a.at != d.rows[1].b.at || len(d.ticks) < 3 {
		t.Errorf("%+v", d)
	}
	if newDumbbells(nil) != nil {
		t.Error("nothing is drawn")
	}
}
