package profiling

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/ncutest"
)

// TestDeviceMetricsListWhatRan checks that an evaluation with device metrics lists every kernel of its call, although
// only the last one has metrics.
func TestDeviceMetricsListWhatRan(t *testing.T) {
	report := ncu.ParsePages(ncu.CSVPages{RawPage: ncutest.Page(t, "../ncu/testdata", "tri", "raw")})
	m, err := metricsOfLastKernel(report, "@triton.jit\ndef softmax_row(x): pass\n")
	want := []kernelrun.Kernel{
		{Name: "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", Origin: "cuBLAS", FromLibrary: true, Launches: 1,
			DurationNS: 175_872, Share: 175_872.0 / 206_816},
		{Name: "softmax_row", Origin: "source", Launches: 1, DurationNS: 30_944, Share: 30_944.0 / 206_816}}
	if diff := cmp.Diff(want, m.Kernels); diff != "" || err != nil || m.DeviceMetrics["timing_metrics"] == nil {
		t.Errorf("%v, want -, is +:\n%s", err, diff)
	}
	if short := (kernelrun.Result{Metrics: map[string]kernelrun.KernelMetrics{"custom": m}}).WithoutDetails(); len(
		short.Metrics["custom"].Kernels) != 2 {
		t.Errorf("a result without details has lost what ran: %+v", short.Metrics)
	}
}

// TestAReportOfManyInstructionsLosesOnlyItsSourceView checks a report below the limit of bytes with more JSON values
// than the site reads. Once, the site refused such results.
func TestAReportOfManyInstructionsLosesOnlyItsSourceView(t *testing.T) {
	report := ncu.ParsePages(ncu.CSVPages{RawPage: ncutest.Page(t, "../ncu/testdata", "tri", "raw")})
	line := ncu.InstructionLine{Address: "0x10", Instruction: "NOP", CounterValues: slices.Repeat([]string{"0"}, 60)}
	for i := range report.Kernels {
		report.Kernels[i].Source = &ncu.Source{Counters: slices.Repeat([]string{"c"}, 60),
			Lines: slices.Repeat([]ncu.InstructionLine{line}, 3000)}
	}
	m, err := metricsOfLastKernel(report, "")
	if err != nil || m.NsightReport == nil {
		t.Fatalf("%v, and a report of %d bytes", err, len(m.NsightReport))
	}
	both, err := json.Marshal(map[string]kernelrun.KernelMetrics{"ref": m, "custom": m})
	if err != nil || job.CheckValueCount(both) != nil || len(m.NsightReport) > maxWholeReport {
		t.Errorf("the site refuses two such reports: %v, %v", err, job.CheckValueCount(both))
	}
	var kept ncu.Report
	if err := json.Unmarshal(m.NsightReport, &kept); err != nil || len(kept.Kernels) != len(report.Kernels) ||
		kept.Kernels[0].Source != nil {
		t.Errorf("%v: %d kernels are left, of %d", err, len(kept.Kernels), len(report.Kernels))
	}
}
