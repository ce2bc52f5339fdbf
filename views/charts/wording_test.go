package charts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/ncu"
)

func TestNamesOfRulesAreSpaced(t *testing.T) {
	for identifier, want := range map[string]string{
		"MemoryWorkloadAnalysis_Tables": "Memory Workload Analysis: Tables", "CPIStall": "CPI Stall",
		"MemoryL2Compression": "Memory L2 Compression", "Occupancy": "Occupancy", "": "",
	} {
		if got := separateWords(identifier); got != want {
			t.Errorf("%s is %q, want %q", identifier, got, want)
		}
	}
}

func TestTheHeadOfThePageLeadsToTheGreatestFindings(t *testing.T) {
	doc, _ := render(t, Details(detailsOf(report(t, "cuda4"), 1)))
	links := doc.Find(".pf-verdict a")
	if links.Length() != 4 || links.Eq(1).Text() != "Memory Cache Access Pattern" ||
		links.First().AttrOr("href", "") != doc.Find("[data-hottest] a").AttrOr("href", "none") {
		t.Errorf("%d links: %q", links.Length(), links.Text())
	}
	links = doc.Find(".pf-next a")
	if text := doc.Find(".pf-next li").First().Text(); !strings.Contains(text, "Estimated speedup 40.8\u00a0%") ||
		!strings.HasSuffix(text,
			"On average, only 18.0 of the 32 bytes transmitted per sector are utilized by each thread.") {
		t.Errorf("the first finding: %q", text)
	}
	if where := strings.Join(strings.Fields(doc.Find("[data-where]").Text()), " "); !strings.HasPrefix(where,
		"Most samples: instruction ") {
		t.Errorf("the instruction with the most samples: %q", where)
	}
	target := doc.Find(links.First().AttrOr("href", "#none"))
	if !strings.Contains(target.Text(), "only 18.0 of the 32 bytes transmitted per sector") ||
		!strings.Contains(target.Text(), "Estimated speedup") {
		t.Errorf("it leads to %q", target.Text())
	}
	gain := func(v float64) *float64 { return &v }
	got := promisingRules([]ncu.Rule{{Name: "part", Speedup: gain(90), SpeedupType: "local"},
		{Name: "whole", Speedup: gain(5)}, {Name: "tiny", Speedup: gain(0.4)}, {Name: "note"},
		{Name: "MemoryL2Compression", Speedup: gain(38)}})
	if len(got) != 2 || got[0].Name != "whole" || got[0].position != 2 || got[1].Name != "part" {
		t.Errorf("at the head: %+v", got)
	}
}

// TestAMessageIsTidied checks that spaces and numbers in ncu's messages are corrected, and that URLs are unchanged.
func TestAMessageIsTidied(t *testing.T) {
	const message = "causes a 20.7 - way bank conflict across all 32958 store requests.This results in 128078 conflicts,  which count. See https://docs.nvidia.com/a.Html/123456. Out of the 33582976.0 bytes, 18.80% at 4.1x."
	r := report(t, "cuda4")
	r.Kernels[0].Rules = []ncu.Rule{{Section: "S", Name: "R", Message: message}}
	doc, _ := render(t, Details(detailsOf(r, 0)))
	const want = "causes a 20.7-way bank conflict across all 32\u202f958 store requests. This results in 128\u202f078 conflicts, which count. See https://docs.nvidia.com/a.Html/123456. Out of the 33\u202f582\u202f976 bytes, 18.80% at 4.1x."
	if got := messageOf(doc.Find("#rules li").Last()); got != want {
		t.Errorf("it says %q", got)
	}
}

// TestAnEstimateAboveTheRoofIsMarked: a kernel at 80 % of its roof cannot become more than 25 % faster.
func TestAnEstimateAboveTheRoofIsMarked(t *testing.T) {
	k := &ncu.Kernel{Metrics: map[string]ncu.Metric{"sm__throughput.avg.pct_of_peak_sustained_elapsed": {UnitName: "%",
		Value: 80, Measured: true}}}
	gain := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		rule ncu.Rule
		want bool
	}{
		"above":            {ncu.Rule{Speedup: gain(26)}, true},
		"below":            {ncu.Rule{Speedup: gain(24)}, false},
		"of a part":        {ncu.Rule{Speedup: gain(90), SpeedupType: "local"}, false},
		"without estimate": {ncu.Rule{}, false},
	} {
		if got := overestimateNote(k, c.rule) != ""; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if overestimateNote(&ncu.Kernel{}, ncu.Rule{Speedup: gain(90)}) != "" {
		t.Error("an estimate is above a roof that was not measured")
	}
}

func TestOnlyTheManualIsLinked(t *testing.T) {
	const message = "See (https://docs.nvidia.com/x.html#y) and https://evil.example/ or javascript:alert(1)."
	r := report(t, "cuda4")
	r.Kernels[0].Rules = []ncu.Rule{{Section: "S", Name: "R", Message: message}}
	doc, _ := render(t, Details(detailsOf(r, 0)))
	links := doc.Find("#rules a")
	if links.Length() != 1 || links.AttrOr("href", "") != "https://docs.nvidia.com/x.html#y" ||
		doc.Find("#rules p").Last().Text() != message {
		t.Errorf("%d links in %q", links.Length(), doc.Find("#rules p").Text())
	}
}

func TestOneIsWrittenInTheSingular(t *testing.T) {
	for value, want := range map[float64]string{1: "1 cycle", 0.9999999: "1 cycle", 2: "2 cycles", 0: "0 cycles"} {
		if got := MetricText(ncu.Metric{UnitName: "cycle", Value: value, Measured: true}); got != want {
			t.Errorf("%v: %q", value, got)
		}
	}
}

func TestChangeFromNothingIsTheWhole(t *testing.T) {
	for want, pair := range map[string][2]ncu.Metric{
		"+213\u00a0kB": {ncu.NewMetric("0", "byte/block"), ncu.NewMetric("213.20", "Kbyte/block")},
		"+2":           {ncu.NewMetric("0", ""), ncu.NewMetric("2", "")},
		"–":            {ncu.NewMetric("nan", ""), ncu.NewMetric("2", "")},
		"−100\u00a0%":  {ncu.NewMetric("2", ""), ncu.NewMetric("0", "")},
	} {
		if got := differenceText(ncu.CompareMetrics("x", pair[0], pair[1])); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRawMetricsBeginWithWhatPeopleLookFor(t *testing.T) {
	k := &report(t, "tri").Kernels[0]
	first := newRawTable(k, Query{MetricsPage: 1})
	if strings.Contains(strings.Join(first.metricNames, " "), "Triage") || first.rowCount != 2227 {
		t.Errorf("the first of %d metrics: %q", first.rowCount, first.metricNames)
	}
	groups := metricGroups(k)
	for _, g := range groups {
		if found := newRawTable(k, Query{MetricSearch: g.searchText}).rowCount; found != g.count {
			t.Errorf("%s finds %d metrics, not %d", g.searchText, found, g.count)
		}
	}
	if len(groups) < 5 {
		t.Errorf("groups: %+v", groups)
	}
}

func TestSamplesOfOlderVersionsAreFound(t *testing.T) {
	s := &ncu.Source{Counters: []string{"Warp Stall Sampling (All Cycles)", "stall_wait"}, Lines: []ncu.InstructionLine{
		{Address: "0x10", Instruction: "NOP", CounterValues: []string{"3", "3"}},
		{Address: "0x20", Instruction: "EXIT", CounterValues: []string{"1", "0"}}}}
	var shares []float64
	v := newInstructionsView(s, Query{CodePage: 1})
	for _, r := range v.rows {
		shares = append(shares, r.samplesShare)
	}
	if diff := cmp.Diff([]float64{0.75, 0.25}, shares); diff != "" || v.largestShare != 0.75 {
		t.Errorf("hottest %v\n%s", v.largestShare, diff)
	}
}

func TestBranchesNameTheInstructionThatTheyGoTo(t *testing.T) {
	s := &ncu.Source{Counters: []string{"# Samples"}}
	for address, sass := range []string{"BRA !P0, 0x7f14dd7a0002", "LDC R1, c[0x0][0x228]", "BRA 0x7f14dd7affff",
		"CALL.REL `(0x7f14dd7a0000)"} {
		s.Lines = append(s.Lines, ncu.InstructionLine{Address: fmt.Sprintf("0x7f14dd7a%04x", address), Instruction: sass,
			CounterValues: []string{"0"}})
	}
	var got []string
	for _, r := range newInstructionsView(s, Query{CodePage: 1}).rows {
		got = append(got, r.sass)
	}
	if diff := cmp.Diff([]string{"BRA !P0, #3", "LDC R1, c[0x0][0x228]", "BRA 0x7f14dd7affff", "CALL.REL `(#1)"},
		got); diff != "" {
		t.Error(diff)
	}
}
