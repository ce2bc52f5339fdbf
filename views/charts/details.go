package charts

import (
	"fmt"
	"path"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

// ProfileView is the view model of the profile of a run: one benchmark case, one kernel.
type ProfileView struct {
	PagePath string // path of the page, without query
	Query    Query
	Cases    []CaseTab // every benchmark case of the run
	// Report is the profile of the selected case; if it is nil, Failure is shown instead.
	Report        *ncu.Report
	Failure       string   // reason for having no profile, a sentence
	CaseTimeNS    float64  // the selected case's time in the ranked run; 0 if none
	PinnedProfile *PinView // pinned baseline; nil if none
	PinChoices    []PinChoice
	// OtherDots are the dots of other visible entries of the board, which the roofline can show.
	OtherDots []RooflineDot
	// SourceURLs maps the name of a submitted file to the URL of its source view. Appending "L12" gives the URL of line
	// 12.
	SourceURLs map[string]string
	// SourceHiddenReason is a sentence with the reason why source and instructions are hidden; "" if the viewer may see
	// them.
	SourceHiddenReason string
	DownloadURL        string // URL of the .ncu-rep file; empty if it was not kept
	DownloadNote       string // reason why the site has no .ncu-rep file
	// DownloadCases is the number of cases in the file to download.
	DownloadCases int
	JSONURL       string // URLs of the profile as JSON and CSV
	CSVURL        string
	PTXURL        string // URL of a kernel's PTX, without its query; empty if the reader may not see it
}

// CaseTab is the link that selects one benchmark case.
type CaseTab struct {
	Index int
	Name  string // the case's arguments, by CaseNames
}

// RooflineDot is another entry's position on the roofline.
type RooflineDot struct {
	RunID         int64
	Name          string
	URL           string
	Rate          float64 // operations per second
	Intensity     float64 // operations per DRAM byte
	OperationKind string  // kind of operations: "FP32"
	PeakRate      float64 // roof of that kind, in operations per second
	ClockHz       float64 // SM clock in hertz for which the roof holds; 0 if unknown
}

// LongestKernelDot returns the position on the roofline of the longest kernel of a report. ok is false if that kernel
// performed none of the operations that the roofline counts.
func LongestKernelDot(name, url string, r *ncu.Report) (dot RooflineDot, ok bool) {
	k := longestKernel(r)
	if k == nil {
		return RooflineDot{}, false
	}
	w := ncu.RooflineOf(k).MostUsedArithmeticRoof()
	if w == nil || !w.Intensity.Value.Measured {
		return RooflineDot{}, false
	}
	return RooflineDot{Name: name, URL: url, Rate: w.AchievedRate.Value.Value, Intensity: w.Intensity.Value.Value, OperationKind: w.Name, PeakRate: w.PeakRate.Value.Value, ClockHz: smClock(k)}, true
}

// Kernel returns the selected kernel, or the longest one.
func (vm ProfileView) Kernel() *ncu.Kernel {
	if vm.Report == nil {
		return nil
	}
	if k := vm.Report.KernelByID(vm.Query.Kernel); k != nil {
		return k
	}
	return longestKernel(vm.Report)
}

// longestKernel returns the kernel with the longest time, or nil if there is none.
func longestKernel(r *ncu.Report) *ncu.Kernel {
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
	kernel            *ncu.Kernel
	url               string
	isSelected        bool
	time              ncu.Fact
	timeShare         float64
	isTimed           bool
	computeThroughput ncu.Fact
	memoryThroughput  ncu.Fact
}

func (vm ProfileView) kernelRows() []kernelRow {
	shares := map[int]float64{}
	for _, s := range ncu.KernelShares(vm.Report) {
		shares[s.KernelID] = s.Share
	}
	chosen := vm.Kernel()
	rows := make([]kernelRow, len(vm.Report.Kernels))
	for i := range vm.Report.Kernels {
		k := &vm.Report.Kernels[i]
		sol := ncu.SpeedOfLight(k)
		share, timed := shares[k.ID]
		rows[i] = kernelRow{
			kernel: k, url: vm.Query.withKernel(k.ID).URL(vm.PagePath), isSelected: k == chosen,
			time: ncu.Fact{Label: "Time", Origin: "gpu__time_duration.sum",
				Value: k.Metric("gpu__time_duration.sum")},
			timeShare: share, isTimed: timed, computeThroughput: sol[0], memoryThroughput: sol[1],
		}
	}
	return rows
}

type pageSection struct{ id, title string }

// pageSections returns the sections of the page, in order.
func pageSections() []pageSection {
	return []pageSection{{"roofline", "Roofline"}, {"sol", "Speed of light"}, {"memory", "Memory"}, {"stalls", "Warp states"}, {"scheduler", "Scheduler"}, {"occupancy", "Occupancy"},
		{"mix", "Instructions"}, {"launch", "Launch"}, {"rules", "Findings"}, {"source", "Source"}, {"raw", "Raw metrics"}}
}

func dimensionsText(d [3]int) string {
	n := func(i int) string { return format.Count(int64(d[i])) }
	switch {
	case d[1] <= 1 && d[2] <= 1:
		return n(0)
	case d[2] <= 1:
		return n(0) + " × " + n(1)
	}
	return n(0) + " × " + n(1) + " × " + n(2)
}

// sourceURL returns the URL of a source line of the submission, or "" for other files.
func (vm ProfileView) sourceURL(file string, line int) string {
	base, ok := vm.SourceURLs[path.Base(file)]
	if !ok || line <= 0 {
		return ""
	}
	return fmt.Sprintf("%sL%d", base, line)
}

func failureText(vm ProfileView) string {
	switch {
	case vm.Failure != "":
		return vm.Failure
	case vm.Report != nil && len(vm.Report.Warnings) > 0:
		return strings.Join(vm.Report.Warnings, " ")
	}
	return "This run has no profile."
}

// kernelCaption counts the kernels and compares the sum of their times with the time of the ranked run. The two differ
// because of launch overhead, gaps between kernels, and different clocks.
func (vm ProfileView) kernelCaption() string {
	list, on, together := vm.Report.Kernels, "", 0.0
	for _, share := range ncu.KernelShares(vm.Report) {
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
	if vm.CaseTimeNS > 0 {
		text += ". The case took " + nanoseconds(vm.CaseTimeNS) + " in the ranked run."
		if together > 0 && (together > 2*vm.CaseTimeNS || vm.CaseTimeNS > 2*together) {
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
	out := []ncu.Fact{o.TheoreticalPercent, o.AchievedPercent, o.TheoreticalWarps, o.AchievedWarps}
	for _, l := range o.Limiters {
		out = append(out, l.Fact)
	}
	return out
}

// downloadLabel returns the text of the link to the file for Nsight Compute.
func downloadLabel(cases int) string {
	if cases > 1 {
		return fmt.Sprintf("Report for Nsight Compute (.ncu-rep, %d cases)", cases)
	}
	return "Report for Nsight Compute (.ncu-rep)"
}
