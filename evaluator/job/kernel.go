package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kernel is one kernel of those that a case launched under Nsight Compute. Its name is the program's claim, and its origin
// follows from the name: both are evidence for a person.
type Kernel struct {
	Name     string  `json:"name"`              // with namespaces and template arguments, without parameters; shortened
	Origin   string  `json:"origin"`            // "source", "cuBLAS" … "unknown"
	Library  bool    `json:"library,omitempty"` // it comes from a library, or a library's compiler wrote it
	Launches int     `json:"launches"`          //
	NS       float64 `json:"ns,omitempty"`      // of all launches under Nsight Compute; absent: not measured
	Share    float64 `json:"share,omitempty"`   // of the time of all kernels in the list, from 0 to 1; absent: not measured
	Cases    int     `json:"cases,omitempty"`   // that launched it, in a list of several cases
}

const (
	maxKernels   = 256  // of one case
	longestNS    = 1e15 // of one kernel: eleven days
	mostLaunches = 1 << 20
)

// checkKernels reports which part of a case's kernels exceeds the bounds.
func (c CaseResult) checkKernels() error {
	if len(c.Kernels) > maxKernels {
		return fmt.Errorf("case %d has %d kernels, at most %d are allowed", c.Index, len(c.Kernels), maxKernels)
	}
	for _, k := range c.Kernels {
		if !(k.NS >= 0 && k.NS <= longestNS) || k.Launches < 0 || k.Launches > mostLaunches || !(k.Share >= 0 && k.Share <= 1) {
			return fmt.Errorf("case %d has a kernel with %d launches, %g ns, and share %g", c.Index, k.Launches, k.NS, k.Share)
		}
		if err := texts(maxName, k.Name, k.Origin); err != nil {
			return fmt.Errorf("case %d: %w", c.Index, err)
		}
	}
	return nil
}

// SetShares gives each kernel its share of the time of all; without the time of one kernel, none has a share.
func SetShares(kernels []Kernel) {
	all, known := 0.0, true
	for _, k := range kernels {
		all, known = all+k.NS, known && k.NS > 0
	}
	for i := range kernels {
		kernels[i].Share = 0
		if known {
			kernels[i].Share = kernels[i].NS / all
		}
	}
}

// KernelsOf are the kernels of all cases together, the ones with the most time first.
func KernelsOf(cases []CaseResult) []Kernel {
	var all []Kernel
	rows := map[[2]string]int{}
	for _, c := range cases {
		for _, k := range c.Kernels {
			at, seen := rows[[2]string{k.Name, k.Origin}]
			if !seen {
				at, all = len(all), append(all, Kernel{Name: k.Name, Origin: k.Origin, Library: k.Library})
				rows[[2]string{k.Name, k.Origin}] = at
			}
			if sum := &all[at]; k.NS > 0 && (sum.NS > 0 || sum.Launches == 0) {
				sum.NS += k.NS
			} else {
				sum.NS = 0
			}
			all[at].Launches, all[at].Cases = all[at].Launches+k.Launches, all[at].Cases+1
		}
	}
	SetShares(all)
	slices.SortStableFunc(all, func(a, b Kernel) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(b.Launches, a.Launches)) })
	return all
}

// LibrariesIn says which libraries kernels come from, with their shares: "cuBLAS 94 %, PyTorch (ATen) 2 %"; empty: none does.
func LibrariesIn(kernels []Kernel) string {
	var names []string
	launches, shares := map[string]int{}, map[string]float64{}
	for _, k := range kernels {
		if !k.Library {
			continue
		}
		if launches[k.Origin] == 0 {
			names = append(names, k.Origin)
		}
		launches[k.Origin] += k.Launches
		shares[k.Origin] += k.Share
	}
	for i, name := range names {
		if share := 100 * shares[name]; share >= 1 {
			names[i] = fmt.Sprintf("%s %.0f\u00a0%%", name, share)
		} else if share > 0 {
			names[i] = name + " under 1\u00a0%"
		}
	}
	return strings.Join(names, ", ")
}
