package charts

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

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
	Failure string // why there is no profile, in a sentence
	Pin     *PinVM // the baseline; nil: none is pinned
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
	Spec  string // the case's arguments
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
	return Dot{Name: name, URL: url, Rate: w.Rate.Value.Value, Intensity: w.Intensity.Value.Value, Kind: w.Name, Peak: w.Peak.Value.Value}, true
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

// speedupText says what a rule's percentage refers to.
func speedupText(r ncu.Rule) string {
	if r.SpeedupType == "local" {
		return "estimated speedup of this part"
	}
	return "estimated speedup"
}

// finding is a rule by its place in the list, from 1.
type finding struct {
	place int
	ncu.Rule
}

// promising picks the findings that are worth being said at the head of the page. What speeds up only a
// part of the kernel comes after what speeds up the whole.
func promising(rules []ncu.Rule) []finding {
	const most, least = 3, 1.0
	var whole, local []finding
	for i, r := range rules {
		switch {
		case r.Speedup == nil || *r.Speedup < least:
		case r.SpeedupType == "local":
			local = append(local, finding{i + 1, r})
		default:
			whole = append(whole, finding{i + 1, r})
		}
	}
	all := append(whole, local...)
	return all[:min(most, len(all))]
}

// part is a piece of a message: words, or an address to link.
type part struct {
	text string
	link bool
}

var manual = regexp.MustCompile(`https://docs\.nvidia\.com/[^\s()<>"]+`)

// linked finds the addresses of NVIDIA's manual in a message. Other addresses do not become links: the program under the
// profiler can forge a report.
func linked(message string) []part {
	var out []part
	end := 0
	for _, at := range manual.FindAllStringIndex(message, -1) {
		out = append(out, part{message[end:at[0]], false}, part{message[at[0]:at[1]], true})
		end = at[1]
	}
	return append(out, part{message[end:], false})
}

// spaced turns ncu's "MemoryL2Compression_Chart" into "Memory L2 Compression: Chart" and "CPIStall"
// into "CPI Stall".
func spaced(identifier string) string {
	var b strings.Builder
	letters := []rune(strings.ReplaceAll(identifier, "_", ": "))
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) {
			before := letters[i-1]
			word := unicode.IsUpper(before) && i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if unicode.IsLower(before) || unicode.IsDigit(before) || word {
				b.WriteByte(' ')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// downloadLabel says what a link to the file of ncu leads to.
func downloadLabel(cases int) string {
	if cases > 1 {
		return fmt.Sprintf("Report for Nsight Compute (.ncu-rep, %d cases)", cases)
	}
	return "Report for Nsight Compute (.ncu-rep)"
}
