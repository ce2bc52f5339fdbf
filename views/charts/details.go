package charts

import (
	"fmt"
	"path"

	"warpboard/evaluator/ncu"
)

// DetailsVM is the details page of one run's profile: one benchmark case, one kernel.
type DetailsVM struct {
	Path  string // the page's own path, without query
	Query Query
	Cases []CaseTab // every benchmark case of the run
	// Report is the profile of the chosen case; nil shows Failure instead.
	Report  *ncu.Report
	Failure string // why there is no profile, in a sentence
	// Others are the dots of other visible entries on the board, a layer of the roofline.
	Others []Dot
	// Sources maps the name of a submitted file to the URL of its source view; lines are "#L12".
	Sources map[string]string
	// SourceHidden says in a sentence why this reader sees neither source nor instructions; empty when
	// they may.
	SourceHidden string
	Download     string // URL of the .ncu-rep file; empty when it was not kept
	DownloadNote string // why it was not
	JSON         string // URLs of the same data
	CSV          string
}

// CaseTab is one benchmark case to choose.
type CaseTab struct {
	Index int
	Spec  string // the case's arguments
}

// Dot is another entry's place on the roofline.
type Dot struct {
	Name      string
	URL       string
	Rate      float64 // operations per second
	Intensity float64 // operations per DRAM byte
}

// DotOf places a report on the roofline by the kernel that took the most time; ok is false when that
// kernel did no arithmetic that the roofline counts.
func DotOf(name, url string, r *ncu.Report) (dot Dot, ok bool) {
	k := longest(r)
	if k == nil {
		return Dot{}, false
	}
	w := ncu.RooflineOf(k).Main()
	if w == nil || !w.Intensity.Value.Measured {
		return Dot{}, false
	}
	return Dot{Name: name, URL: url, Rate: w.Rate.Value.Value, Intensity: w.Intensity.Value.Value}, true
}

// kernel returns the chosen kernel: the one asked for, else the one that took the most time.
func (vm DetailsVM) kernel() *ncu.Kernel {
	if vm.Report == nil {
		return nil
	}
	if k := vm.Report.Kernel(vm.Query.Kernel); k != nil {
		return k
	}
	return longest(vm.Report)
}

// longest returns the kernel that took the most time, or nil when there is none.
func longest(r *ncu.Report) *ncu.Kernel {
	if len(r.Kernels) == 0 {
		return nil
	}
	best, most := &r.Kernels[0], 0.0
	for i := range r.Kernels {
		if ns, ok := r.Kernels[i].Duration(); ok && ns > most {
			best, most = &r.Kernels[i], ns
		}
	}
	return best
}

// kernelRow is one line of the kernel list.
type kernelRow struct {
	kernel  *ncu.Kernel
	url     string
	chosen  bool
	time    ncu.Fact
	share   float64
	timed   bool
	compute ncu.Fact
	memory  ncu.Fact
}

func (vm DetailsVM) kernelRows() []kernelRow {
	shares := map[int]float64{}
	for _, s := range ncu.Shares(vm.Report) {
		shares[s.Kernel] = s.Share
	}
	chosen := vm.kernel()
	rows := make([]kernelRow, len(vm.Report.Kernels))
	for i := range vm.Report.Kernels {
		k := &vm.Report.Kernels[i]
		sol := ncu.SpeedOfLight(k)
		share, timed := shares[k.ID]
		rows[i] = kernelRow{
			kernel: k, url: vm.Query.withKernel(k.ID).URL(vm.Path), chosen: k == chosen,
			time:  ncu.Fact{Label: "Time", From: "gpu__time_duration.sum", Value: k.Metric("gpu__time_duration.sum")},
			share: share, timed: timed, compute: sol[0], memory: sol[1],
		}
	}
	return rows
}

func dims(d [3]int) string {
	switch {
	case d[1] <= 1 && d[2] <= 1:
		return fmt.Sprint(d[0])
	case d[2] <= 1:
		return fmt.Sprintf("%d × %d", d[0], d[1])
	}
	return fmt.Sprintf("%d × %d × %d", d[0], d[1], d[2])
}

// sourceURL links a source line of the submission; empty for files that are not part of it.
func (vm DetailsVM) sourceURL(file string, line int) string {
	base, ok := vm.Sources[path.Base(file)]
	if !ok || line <= 0 {
		return ""
	}
	return fmt.Sprintf("%s#L%d", base, line)
}
