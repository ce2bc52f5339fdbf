package ncu

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Limits for each part of a report as text, because its reader, often a language model, needs only the largest values.
const (
	maxTextRules        = 4
	maxTextStalls       = 4
	maxTextInstructions = 8
	maxFindingText      = 400 // bytes of a finding
)

// SampleCounters lists the names, in different versions of ncu, of the counter of warp samples per instruction, which
// shows where the kernel spends its time.
func SampleCounters() []string {
	return []string{"# Samples", "Warp Stall Sampling (All Samples)", "Warp Stall Sampling (All Cycles)", "Sampling Data (All)"}
}

// WriteText writes the report as text: for each kernel its bottleneck, the best recommendations, its warp states, and
// the instructions with the most samples.
func (r *Report) WriteText(w io.Writer) {
	for i := range r.Kernels {
		if i > 0 {
			fmt.Fprintln(w)
		}
		r.Kernels[i].writeText(w)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "\nWarning: %s\n", warning)
	}
}

func (k *Kernel) writeText(w io.Writer) {
	fmt.Fprintf(w, "Kernel %s  grid %v  block %v", k.ShortName, k.GridSize, k.BlockSize)
	if ns, ok := k.Duration(); ok {
		fmt.Fprintf(w, "  %.2f us under the profiler", ns/1e3)
	}
	fmt.Fprintln(w)
	if verdict := BottleneckSentence(k); verdict != "" {
		fmt.Fprintln(w, verdict)
	}
	writeFacts(w, "Speed of light:", SpeedOfLight(k))
	o := OccupancyOf(k)
	for _, l := range o.Limiters {
		if l.IsTightest {
			fmt.Fprintf(w, "Occupancy is limited by %s.\n", l.Label)
		}
	}
	k.writeRules(w)
	k.writeStalls(w)
	k.Source.writeHottest(w)
}

func writeFacts(w io.Writer, head string, facts []Fact) {
	fmt.Fprintln(w, head)
	for _, f := range facts {
		if f.Value.Measured {
			fmt.Fprintf(w, "  %-24s %.1f %s\n", f.Label, f.Value.Value, f.Value.UnitName)
		}
	}
}

func (k *Kernel) writeRules(w io.Writer) {
	rules := slices.DeleteFunc(SortedRules(k), func(r Rule) bool { return r.Severity == "INF" && r.Speedup == nil })
	if len(rules) > 0 {
		fmt.Fprintln(w, "Findings of Nsight Compute, the most promising first:")
	}
	for _, r := range rules[:min(len(rules), maxTextRules)] {
		gain := ""
		if r.Speedup != nil {
			gain = fmt.Sprintf(" (est. %sspeedup %.0f %%)", map[bool]string{true: "local "}[r.SpeedupType == "local"], *r.Speedup)
		}
		message := strings.Join(strings.Fields(r.Message), " ")
		fmt.Fprintf(w, "- %s%s: %s\n", r.Name, gain, message[:min(len(message), maxFindingText)])
	}
}

func (k *Kernel) writeStalls(w io.Writer) {
	left := maxTextStalls
	for _, s := range StallReasons(k) {
		if s.IsIssuing || left == 0 || s.Share < 0.01 {
			continue
		}
		if left == maxTextStalls {
			fmt.Fprintln(w, "Warps wait for:")
		}
		left--
		fmt.Fprintf(w, "  %4.0f %%  %s\n", 100*s.Share, cmp.Or(s.Explanation, s.Label))
	}
}

// writeHottest writes the instructions with the most samples, none if s is nil.
func (s *Source) writeHottest(w io.Writer) {
	if s == nil {
		return
	}
	names := SampleCounters()
	counter := slices.IndexFunc(names, func(name string) bool { return s.CounterColumn(name) >= 0 })
	if counter < 0 {
		return
	}
	type hot struct {
		line    int
		samples float64
	}
	var all []hot
	sum := 0.0
	for i := range s.Lines {
		if m := s.CounterOnLine(i, names[counter]); m.Measured && m.Value > 0 {
			all, sum = append(all, hot{i, m.Value}), sum+m.Value
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b hot) int { return cmp.Compare(b.samples, a.samples) })
	fmt.Fprintln(w, "Hottest instructions:")
	for _, h := range all[:min(len(all), maxTextInstructions)] {
		line := s.Lines[h.line]
		fmt.Fprintf(w, "  %4.1f %%  %s", 100*h.samples/sum, strings.TrimSpace(line.Instruction))
		if line.SourceFile != "" {
			fmt.Fprintf(w, "  (%s:%d) %s", line.SourceFile, line.SourceLine, strings.TrimSpace(line.SourceText))
		}
		fmt.Fprintln(w)
	}
}
