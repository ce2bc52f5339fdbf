package profiling

import (
	"context"
	"encoding/json"
	"errors"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// maxWholeReport limits the report in a result, in bytes, and maxReportValues its JSON values. A larger report is
// stored without its source view: a kernel of cuBLAS has thousands of instructions, with 60 counters each. A comparison
// has two reports, which together must stay below job.MaxJSONValues.
const maxWholeReport, maxReportValues = 3 << 20, 100_000

// CollectCounters runs the program of a stage once under Nsight Compute and returns the counters of the last kernel in
// NVTXRange. source is the kernel's source. The error is a message for the caller. A nil Nsight returns an error.
func (n *Nsight) CollectCounters(
	ctx context.Context, program toolchain.Program, req toolchain.StageRequest, sections []string, source string,
) (kernelrun.KernelMetrics, error) {
	if n == nil {
		return kernelrun.KernelMetrics{}, nsight.ErrNoTool
	}
	if req.Timeout <= 0 {
		return kernelrun.KernelMetrics{}, errors.New("no time was left for a pass under Nsight Compute: ask for a longer timeout")
	}
	slot := 0
	file, _, why, err := n.profileProcess(ctx, program, req, func(spec *sandbox.Spec) error {
		if len(spec.DeviceNodes) == 0 {
			return errNoCounters
		}
		slot = spec.SandboxSlot
		return nil
	}, nsight.Options{Sections: sections})
	if err == nil && why != "" {
		err = errors.New(why) // an incomplete report is useless: the caller needs the counters of a complete call
	}
	if err != nil {
		return kernelrun.KernelMetrics{}, err
	}
	report, err := n.readReport(ctx, slot, file)
	if err != nil {
		return kernelrun.KernelMetrics{}, err
	}
	return metricsOfLastKernel(report, source)
}

// metricsOfLastKernel returns the counters of the last kernel, and the whole report if it fits.
func metricsOfLastKernel(report *ncu.Report, source string) (kernelrun.KernelMetrics, error) {
	if len(report.Kernels) == 0 {
		return kernelrun.KernelMetrics{}, errors.New("the profile holds no kernel")
	}
	m := kernelrun.KernelMetrics{DeviceMetrics: ncu.DeviceMetrics(&report.Kernels[len(report.Kernels)-1])}
	for _, k := range KernelOrigins(report, map[string][]byte{"": []byte(source)}) {
		m.Kernels = append(m.Kernels, kernelrun.Kernel{
			Name: k.Name, Origin: k.Origin, FromLibrary: k.FromLibrary, Launches: k.LaunchCount, DurationNS: k.NS,
			Share: k.Share,
		})
	}
	whole, err := json.Marshal(report)
	if err == nil && !isWithinValueLimit(whole) {
		for i := range report.Kernels {
			report.Kernels[i].Source = nil
		}
		whole, err = json.Marshal(report)
	}
	if err == nil && !isWithinValueLimit(whole) {
		return m, nil
	}
	m.NsightReport = whole
	return m, err
}

func isWithinValueLimit(report []byte) bool {
	return len(report) <= maxWholeReport && !job.ExceedsValueCount(report, maxReportValues)
}
