package charts

import (
	"fmt"
	"path"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

// DetailsVM is the details page of one run's profile: one benchmark case, one kernel.
type DetailsVM struct {
	Path  string // the page's own path, without query
	Query Query
	Cases []CaseTab // every benchmark case of the run
	// Report is the profile of the chosen case; nil shows Failure instead.
	Report  *ncu.Report
	Failure string  // why there is no profile, in a sentence
	CaseNS  float64 // the chosen case's time in the ranked run; 0: none
	Pin     *PinVM  // the baseline; nil: none is pinned
	Choices []PinChoice
	// Others are the dots of other visible entries on the board, a layer of the roofline.
	Others []Dot
	// Sources maps the name of a submitted file to the URL of its source view, up to what stands before a line's "L12".
	Sources map[string]string
	// SourceHidden says in a sentence why this reader sees neither source nor instructions; empty when
	// they may.
	SourceHidden string
	Download     string // URL of the .ncu-rep file; empty when it was not kept
	DownloadNote string // why it was not
	// DownloadCases is how many cases the file has.
	DownloadCases int
	JSON          string // URLs of the same data
	CSV           string
	PTX           string // URL of a kernel's PTX, without its query; empty for those who may not see it
}

// CaseTab is one benchmark case to choose.
type CaseTab struct {
	Index int
	Name  string // the case's arguments, by CaseNames
}

// Dot is another entry's place on the roofline.
type Dot struct {
	Run       int64
	Name      string
	URL       string
	Rate      float64 // operations per second
	Intensity float64 // operations per DRAM byte
	Kind      string  // of its operations: "FP32"
	Peak      float64 // the roof of that kind, in operations per second
	Clock     float64 // of the SMs, at which that roof holds, in hertz; 0: unknown
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
	return Dot{Name: name, URL: url, Rate: w.Rate.Value.Value, Intensity: w.Intensity.Value.Value, Kind: w.Name, Peak: w.Peak.Value.Value, Clock: clockOf(k)}, true
}

// Kernel returns the requested kernel, or the one that took the most time.
func (vm DetailsVM) Kernel() *ncu.Kernel {
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
	chosen := vm.Kernel()
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

type section struct{ id, title string }

// sections are the panels of the page, in its order.
func sections() []section {
	return []section{{"roofline", "Roofline"}, {"sol", "Speed of light"}, {"memory", "Memory"}, {"stalls", "Warp states"}, {"scheduler", "Scheduler"}, {"occupancy", "Occupancy"},
		{"mix", "Instructions"}, {"launch", "Launch"}, {"rules", "Findings"}, {"source", "Source"}, {"raw", "Raw metrics"}}
}

func dims(d [3]int) string {
	n := func(i int) string { return format.Count(int64(d[i])) }
	switch {
	case d[1] <= 1 && d[2] <= 1:
		return n(0)
	case d[2] <= 1:
		return n(0) + " × " + n(1)
	}
	return n(0) + " × " + n(1) + " × " + n(2)
}

// sourceURL links a source line of the submission; empty for files that are not part of it.
func (vm DetailsVM) sourceURL(file string, line int) string {
	base, ok := vm.Sources[path.Base(file)]
	if !ok || line <= 0 {
		return ""
	}
	return fmt.Sprintf("%sL%d", base, line)
}

func failureText(vm DetailsVM) string {
	switch {
	case vm.Failure != "":
		return vm.Failure
	case vm.Report != nil && len(vm.Report.Warnings) > 0:
		return strings.Join(vm.Report.Warnings, " ")
	}
	return "This run has no profile."
}

// kernelCaption counts the kernels, and sets their time beside that of the ranked run: the two differ by launches, gaps between
// kernels, and clocks.
func (vm DetailsVM) kernelCaption() string {
	list, on, together := vm.Report.Kernels, "", 0.0
	for _, share := range ncu.Shares(vm.Report) {
		together += share.NS
	}
	if list[0].Device != "" {
		on = " on " + list[0].Device
	}
	text := "One kernel" + on
	if len(list) > 1 {
		text = fmt.Sprintf("%d kernels%s, in launch order", len(list), on)
		if together > 0 {
			text += ": " + nanoseconds(together) + " in all under the profiler"
		}
	}
	if vm.CaseNS > 0 {
		text += ". The case took " + nanoseconds(vm.CaseNS) + " in the ranked run."
		if together > 0 && (together > 2*vm.CaseNS || vm.CaseNS > 2*together) {
			text += " The two times differ by more than 2×, so the profile may not represent the scored run."
		}
	}
	return text
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

// downloadLabel says what a link to the file of ncu leads to.
func downloadLabel(cases int) string {
	if cases > 1 {
		return fmt.Sprintf("Report for Nsight Compute (.ncu-rep, %d cases)", cases)
	}
	return "Report for Nsight Compute (.ncu-rep)"
}
