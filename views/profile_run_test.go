package views

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
)

func TestParseKernelFactsReadsThemFromABuild(t *testing.T) {
	extra := map[string]string{
		"ptxas._Z4tilePKfS0_Pfi.registers": "64", "ptxas._Z4tilePKfS0_Pfi.smem": "4352",
		"ptxas._Z4tilePKfS0_Pfi.stack":        "0",
		"ptxas._Z4tilePKfS0_Pfi.spill_stores": "24", "ptxas._Z4tilePKfS0_Pfi.spill_loads": "16",
		"ptxas._ZN12_GLOBAL__N_13top4tileIfEEvPT_.registers": "8",
		"ptxas.kernel.with.points.registers":                 "9",
		"ptxas.nothing.stack":                                "1",
		"report":                                             "of a program",
	}
	want := []KernelFacts{
		{Name: "tile", Symbol: "_Z4tilePKfS0_Pfi", Registers: 64, SharedBytes: 4352, Spills: 40},
		{Name: "top::tile<float>", Symbol: "_ZN12_GLOBAL__N_13top4tileIfEEvPT_", Registers: 8, StackBytes: -1,
			Spills: -1},
		{Name: "kernel.with.points", Symbol: "kernel.with.points", Registers: 9, StackBytes: -1, Spills: -1},
	}
	if diff := cmp.Diff(want, ParseKernelFacts(extra)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSymbolsAreDemangled(t *testing.T) {
	for symbol, want := range map[string]string{
		"_Z4tilePKfS0_Pfi":                   "tile",
		"_ZN12_GLOBAL__N_13top4tileIfEEvPT_": "top::tile<float>",
		"_Z6kernelILi4E6__halfEvPT0_":        "kernel<4, __half>",
		"_ZN3boxclEv":                        "box::operator()",
		"_ZN1aI1bIiES1_E1fEv":                "a<b<int>, b<int> >::f",
	} {
		if got := symbolName(symbol); got != want {
			t.Errorf("%s is %q, want %q", symbol, got, want)
		}
	}
}

func TestTextsThatAreNoSymbolsStayUnchanged(t *testing.T) {
	for _, symbol := range []string{"", "main", "_Z", "_Z9short", "_ZN", "_Z99999999999999999999x", "_ZL"} {
		if got := symbolName(symbol); got != symbol {
			t.Errorf("%q became %q", symbol, got)
		}
	}
}

func TestRatesSayTheirPartOfTheRoof(t *testing.T) {
	m := MeasuredCase{Case: job.CaseResult{Mean: 1000}, Bytes: 3.35e6, PeakBytes: 4.8e12, Flops: 2e9,
		PeakFlopsKind: "FP32"}
	want := []NamedValue{{"Bandwidth", "3.350\u00a0TB/s, 70\u00a0% of the DRAM roof"}, {"Arithmetic", "2\u00a0PFLOP/s"}}
	if diff := cmp.Diff(want, m.Rates()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if rates := (MeasuredCase{Case: job.CaseResult{Mean: 0}, Bytes: 1}).Rates(); len(rates) > 0 {
		t.Errorf("rates without a time: %v", rates)
	}
}
