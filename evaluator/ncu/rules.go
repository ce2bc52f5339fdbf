package ncu

import (
	"cmp"
	"slices"
)

// Rules returns Nsight Compute's findings, worst first: by estimated speed-up, then those that
// only warn, then those that inform.
func Rules(k *Kernel) []Rule {
	out := slices.Clone(k.Rules)
	slices.SortStableFunc(out, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.gain(), a.gain()), weight(a.Type)-weight(b.Type))
	})
	return out
}

func (r Rule) gain() float64 {
	if r.Speedup == nil {
		return -1
	}
	return *r.Speedup
}

func weight(ruleType string) int {
	switch ruleType {
	case "OPT":
		return 0
	case "WRN":
		return 1
	}
	return 2
}

// Share is one kernel's part of the report's time.
type Share struct {
	Kernel int     `json:"kernel"` // ID
	NS     float64 `json:"ns"`
	Share  float64 `json:"share"` // 0 to 1
}

// Shares returns each kernel's part of the time, in launch order; kernels without a measured time
// are left out.
func Shares(r *Report) []Share {
	var out []Share
	total := 0.0
	for i := range r.Kernels {
		if ns, ok := r.Kernels[i].Duration(); ok {
			out = append(out, Share{Kernel: r.Kernels[i].ID, NS: ns})
			total += ns
		}
	}
	for i := range out {
		if total > 0 {
			out[i].Share = out[i].NS / total
		}
	}
	return out
}
