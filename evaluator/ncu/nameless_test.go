package ncu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAReportWithoutItsProgramNumbersItsKernels also checks that HideProgram does not change the original report.
func TestAReportWithoutItsProgramNumbersItsKernels(t *testing.T) {
	kernel := func(id int, name, short, says string) Kernel {
		return Kernel{ID: id, Name: name, ShortName: short, ProcessName: "trick", Rules: []Rule{{Name: "Rule", Message: says}},
			Source: &Source{PTX: "ret;"}}
	}
	kept := &Report{
		Kernels: []Kernel{kernel(0, "tile<64>(float *)", "tile", "tile<64>(float *) waits; tiles and a tile."),
			kernel(1, "k", "k", "A kernel k of k."),
			kernel(2, "tile<64>(float *)", "tile", "Nothing.")},
		Warnings: []string{"Basic counters of tile were not measured.", "ncu is old."},
	}
	numbered := func(id int, name, says string) Kernel {
		return Kernel{ID: id, Name: name, ShortName: name, Rules: []Rule{{Name: "Rule", Message: says}}}
	}
	want := &Report{
		Kernels: []Kernel{numbered(0, "kernel 1", "kernel 1 waits; tiles and a kernel 1."),
			numbered(1, "kernel 2", "A kernel kernel 2 of kernel 2."),
			numbered(2, "kernel 1", "Nothing.")},
		Warnings: []string{"Basic counters of kernel 1 were not measured.", "ncu is old."},
	}
	if diff := cmp.Diff(want, kept.HideProgram()); diff != "" {
		t.Errorf("want -, is +:\n%s", diff)
	}
	if k := kept.Kernels[0]; k.ShortName != "tile" || k.Source == nil || k.Rules[0].Message[:4] != "tile" ||
		kept.Warnings[0][18:22] != "tile" {
		t.Errorf("the kept report is changed: %+v", kept)
	}
}
