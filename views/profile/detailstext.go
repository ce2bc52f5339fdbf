package profile

import (
	"fmt"
	"strings"
	"unicode"

	ncu "warpboard/evaluator/profile"
)

func failureText(vm DetailsVM) string {
	switch {
	case vm.Failure != "":
		return vm.Failure
	case vm.Report != nil && len(vm.Report.Warnings) > 0:
		return strings.Join(vm.Report.Warnings, " ")
	}
	return "This run has no profile."
}

func kernelCaption(r *ncu.Report) string {
	k := r.Kernels[0]
	on := ""
	if k.Device != "" {
		on = " on " + k.Device
	}
	if len(r.Kernels) == 1 {
		return "One kernel" + on
	}
	return fmt.Sprintf("%d kernels%s, in launch order", len(r.Kernels), on)
}

func stallFacts(stalls []ncu.Stall) []ncu.Fact {
	out := make([]ncu.Fact, len(stalls))
	for i, s := range stalls {
		out[i] = s.Fact
	}
	return out
}

func occupancyFacts(o ncu.Occupancy) []ncu.Fact {
	out := []ncu.Fact{o.Theoretical, o.Achieved, o.TheoreticalWarps, o.AchievedWarps}
	for _, l := range o.Limiters {
		out = append(out, l.Fact)
	}
	return out
}

func ruleKind(ruleType string) string {
	switch ruleType {
	case "OPT":
		return "hint"
	case "WRN":
		return "warning"
	}
	return "note"
}

// spaced turns ncu's "MemoryWorkloadAnalysis_Tables" into "Memory Workload Analysis: Tables".
func spaced(identifier string) string {
	var b strings.Builder
	last := ' '
	for _, r := range strings.ReplaceAll(identifier, "_", ": ") {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}
