package charts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/versus"
	"warpboard/tasks"
)

// TestTheSentencesClaimNoMoreThanTheDataShow checks the sentences at the top of a comparison: which run is faster, how
// certain that is, and which cases differ.
func TestTheSentencesClaimNoMoreThanTheDataShow(t *testing.T) {
	side := func(times ...float64) (list []job.CaseResult) {
		for i, ns := range times {
			list = append(list, processes([]string{"n: 1", "n: 2", "n: 3"}[i], 1e3*ns))
		}
		return list
	}
	untimed := []job.CaseResult{{SpecLine: "n: 1", Status: job.StatusFail}}
	once := []job.CaseResult{{SpecLine: "n: 1", Status: job.StatusPass, Mean: 500e3, StandardError: 0.1}}
	for name, c := range map[string]struct {
		a, b    []job.CaseResult
		version string
		same    bool
		want    []string
	}{
		"faster": {a: side(1000, 1000, 1000), b: side(500, 1000, 2000), version: "time of the last case",
			want: []string{"#15 is 2.00× slower than #12", "1.97× to 2.03× at 99 % confidence; time of the last case.",
				"Of 3 cases that both ran, #15 is faster in 1, by 2.00× (n: 1); slower in 1, by 2.00× (n: 3); no clear difference in 1."}},
		"no difference": {a: side(1000, 1000), b: side(1001, 999), version: "mean",
			want: []string{"No clear difference", "#15 takes 0.982× to 1.016× the time of #12 (99 % interval; mean).",
				"No clear difference in any of 2 cases that both ran."}},
		"another version": {a: side(1000, 1000), b: side(500),
			want: []string{"#15 is 2.00× faster than #12",
				"1.97× to 2.03× at 99 % confidence; geometric mean of the cases that both ran.",
				"Of 1 case that both ran, #15 is faster in 1, by 2.00× (n: 1). 1 case was timed on one side only."}},
		"the same source": {a: side(1000), b: side(1100), version: "mean", same: true,
			want: []string{"Both ran the same source",
				"#15 took 1.100× the time of #12 by chance or because of the conditions.", ""}},
		"one process": {a: side(1000), b: once, version: "mean",
			want: []string{"No clear difference",
				"#15 took 0.50× the time of #12 (mean), but each was measured in too few fresh processes for an interval.", ""}},
		"not timed": {a: side(1000), b: untimed, version: "mean",
			want: []string{"The two runs have no timed case in common, so their speeds cannot be compared.", "", ""}},
	} {
		vm := CompareView{RunA: ComparedSide{ShortName: "#12"}, RunB: ComparedSide{ShortName: "#15"},
			TimeComparison: versus.CompareRuns(tasks.RankLastCase, c.a, c.b),
			Ranking:        c.version, SameSource: c.same}
		if diff := cmp.Diff(c.want, []string{vm.FasterText(), vm.CertaintyText(), vm.DifferingCases()}); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestTheBoardIsNamedOnlyWhereTheRunsDoNotShowIt checks that the scores on the board are mentioned only if they differ
// and the two runs alone do not show which one is faster.
func TestTheBoardIsNamedOnlyWhereTheRunsDoNotShowIt(t *testing.T) {
	same, faster := versus.Ratio{Value: 1, Low: 0.9, High: 1.1}, versus.Ratio{Value: 0.5, Low: 0.4, High: 0.6}
	says := func(first, times string) string {
		return "By their scores on the board, " + first + " is clearly ahead: " + times +
			", from further measurements. These two runs alone do not show it."
	}
	for name, c := range map[string]struct {
		ratio versus.Ratio
		board [2]float64
		want  string
	}{
		"no difference":       {same, [2]float64{1553e3, 3101e3}, says("#12", "1.553\u00a0ms against 3.101\u00a0ms")},
		"the other direction": {faster, [2]float64{1553e3, 3101e3}, says("#12", "1.553\u00a0ms against 3.101\u00a0ms")},
		"the same direction":  {faster, [2]float64{3101e3, 1553e3}, ""},
		"their own scores":    {same, [2]float64{}, ""},
	} {
		vm := CompareView{RunA: ComparedSide{ShortName: "#12"}, RunB: ComparedSide{ShortName: "#15"},
			TimeComparison: versus.Comparison{ScoreRatio: c.ratio},
			Ranking:        "mean", BoardScoresNS: c.board}
		if got := vm.BoardLeadText(); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDumbbellsStayInTheDrawingAndShowSmallDifferences(t *testing.T) {
	d := newDumbbells(versus.CompareRuns(tasks.RankLastCase,
		[]job.CaseResult{processes("n: 1", 1000), processes("n: 2", 1e9)},
		[]job.CaseResult{processes("n: 1", 1050), processes("n: 2", 1e9)}).Cases)
	if len(d.rows) != 2 || d.rows[0].position == d.rows[1].position || len(d.ticks) < 3 {
		t.Errorf("%+v", d)
	}
	if newDumbbells(nil) != nil {
		t.Error("nothing is drawn")
	}
}

// TestTheDrawingOfCasesAgreesWithItsLabels checks that the interval of a case crosses the line at 1× exactly if its
// label says that there is no clear difference.
func TestTheDrawingOfCasesAgreesWithItsLabels(t *testing.T) {
	cases := []versus.ComparedCase{{Ratio: versus.Ratio{Value: 18.9, Low: 0.936, High: 175}},
		{Ratio: versus.Ratio{Value: 3, Low: 2, High: 4}}, {Ratio: versus.Ratio{Value: 2, Low: 1e-9, High: 1e9}},
		{Ratio: versus.Ratio{Value: 2}}}
	for _, shown := range [][]versus.ComparedCase{cases[:2], cases} {
		d := newDumbbells(shown)
		at := func(place string) (v float64) {
			fmt.Sscanf(place, "%g%%", &v)
			return v
		}
		one := slices.IndexFunc(d.ticks, func(tick ratioTick) bool { return tick.isOne })
		for _, row := range d.rows {
			r := row.caseResult.Ratio
			unity := at(d.ticks[one].position)
			if crosses := at(row.lowPosition) <= unity && at(row.highPosition) >= unity; r.HasInterval() &&
				crosses == r.IsClear() {
				t.Errorf("%+v is drawn from %s to %s with 1 at %s", r, row.lowPosition, row.highPosition,
					d.ticks[one].position)
			}
			if far := r.High > 1e6; row.extendsLeft != far || row.extendsRight != far {
				t.Errorf("%+v goes on beyond the axis: %v, %v", r, row.extendsLeft, row.extendsRight)
			}
		}
	}
	var texts []string
	for _, tick := range newDumbbells(cases[:2]).ticks {
		texts = append(texts, tick.text)
	}
	if diff := cmp.Diff([]string{"1×", "2×", "5×", "10×", "20×", "50×", "100×", "200×"}, texts); diff != "" {
		t.Error(diff)
	}
}

func TestAWideIntervalIsShownByItsEnds(t *testing.T) {
	wide := job.CaseResult{SpecLine: "n: 1", Status: job.StatusPass, Median: 100e3,
		ClockTimes: job.ClockTimes{CountedClock: job.ClockEvent}, ProcessMedians: []float64{40e3, 90e3, 100e3, 300e3, 500e3}}
	if text := intervalText(&wide); strings.Contains(text, "±") || !strings.Contains(text, " to ") {
		t.Errorf("wide: %q", text)
	}
	if narrow := processes("n: 1", 100e3); !strings.HasPrefix(intervalText(&narrow), "± ") {
		t.Errorf("narrow: %q", intervalText(&narrow))
	}
}
