package charts

import (
	"slices"
	"strconv"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

// chartBar is one line of a bar chart: texts for label and number, and the length of the bar in percent.
type chartBar struct {
	label          string
	helpText       string
	fact           ncu.Fact
	lengthFraction float64 // length relative to the full length, 0 to 1
	cssClass       string  // "pf-high", "pf-quiet", or empty
	noteText       string  // text beside the number
	pinnedText     string  // the pinned run's value; empty if none
	pinnedFraction float64 // position of the pinned value, 0 to 1
}

func barWidth(part float64) string {
	return coordinateText(100 * clamp(part, 0, 1))
}

func speedOfLightBars(facts []ncu.Fact) []chartBar {
	out := make([]chartBar, len(facts))
	for i, f := range facts {
		out[i] = chartBar{label: f.Label, fact: f, lengthFraction: f.Value.Value / 100}
		if f.Value.Measured && f.Value.Value >= 80 {
			out[i].cssClass, out[i].noteText = "pf-high", "near its peak"
		}
	}
	return out
}

// stackedPart is one part of a stacked bar, with its start and width in percent.
type stackedPart struct {
	ncu.Stall
	startPercent, widthPercent float64
	cssClass                   string
}

// stackStalls returns the stall reasons as parts of a bar, most cycles first. Small reasons are combined into one part,
// the last; the table lists them.
func stackStalls(stalls []ncu.Stall) (parts []stackedPart) {
	const least, most = 0.01, 8
	at := 0.0
	for _, s := range stalls {
		if s.Share < least || len(parts) == most {
			break
		}
		class := "pf-state-" + strconv.Itoa(len(parts)%most)
		if s.IsIssuing {
			class = "pf-state-issuing"
		}
		parts = append(parts, stackedPart{s, at, 100 * s.Share, class})
		at += 100 * s.Share
	}
	return parts
}

// otherStatesClass is the CSS class of stall reasons that are small in the selected kernel, but not in the pinned one.
const otherStatesClass = "pf-state-rest"

// stackPinnedStalls returns the stall reasons of the pinned kernel in the order and colors of the selected kernel;
// additional reasons are last.
func stackPinnedStalls(parts []stackedPart, pinned *ncu.Kernel) (list []stackedPart) {
	if pinned == nil {
		return nil
	}
	const least = 0.01
	place := func(s ncu.Stall) int {
		if at := slices.IndexFunc(parts, func(p stackedPart) bool { return p.Label == s.Label }); at >= 0 {
			return at
		}
		return len(parts)
	}
	stalls := ncu.StallReasons(pinned)
	slices.SortStableFunc(stalls, func(a, b ncu.Stall) int { return place(a) - place(b) })
	at := 0.0
	for _, s := range stalls {
		class := otherStatesClass
		if i := place(s); i < len(parts) {
			class = parts[i].cssClass
		} else if s.Share < least {
			continue
		}
		list = append(list, stackedPart{s, at, 100 * s.Share, class})
		at += 100 * s.Share
	}
	return list
}

// stallShare returns the share of cycles of the stall reason with this label, or 0 if there is none.
func stallShare(stalls []ncu.Stall, label string) (share float64) {
	for _, s := range stalls {
		if s.Label == label {
			share = s.Share
		}
	}
	return share
}

func pipeBars(facts []ncu.Fact) []chartBar {
	var out []chartBar
	for _, f := range facts {
		if f.Value.Value > 0 {
			out = append(out, chartBar{
				label:          f.Label,
				helpText:       pipeHelp(strings.Fields(f.Label)[0]),
				fact:           f,
				lengthFraction: f.Value.Value / 100,
			})
		}
	}
	return out
}

// pipeHelp explains an execution pipe of the SM (such as ALU or FMA) by the first word of its label.
func pipeHelp(key string) string {
	switch key {
	case "ADU":
		return "addresses and branches"
	case "ALU":
		return "integer and logic"
	case "CBU":
		return "branches and barriers"
	case "FMA":
		return "FP32 and integer multiply-add"
	case "FP64":
		return "double precision"
	case "LSU":
		return "loads and stores"
	case "Tensor":
		return "matrix instructions"
	case "TEX":
		return "texture"
	case "TMA":
		return "bulk copies"
	case "Uniform":
		return "once per warp"
	case "XU":
		return "special functions and conversions"
	}
	return ""
}

func occupancyBars(o ncu.Occupancy) []chartBar {
	out := make([]chartBar, 0, 2)
	for _, f := range []ncu.Fact{o.TheoreticalPercent, o.AchievedPercent} {
		out = append(out, chartBar{label: f.Label, fact: f, lengthFraction: f.Value.Value / 100})
	}
	return out
}

func limiterBars(limiters []ncu.OccupancyLimiter) []chartBar {
	most := 1.0
	for _, l := range limiters {
		most = max(most, l.Value.Value)
	}
	out := make([]chartBar, len(limiters))
	for i, l := range limiters {
		out[i] = chartBar{label: l.Label, fact: l.Fact, lengthFraction: l.Value.Value / most, cssClass: "pf-quiet"}
		if l.IsTightest {
			out[i].cssClass, out[i].noteText = "pf-high", "limits"
		}
	}
	return out
}

// maxOpcodes limits the kinds of instructions that the chart names; all others are one bar.
const maxOpcodes = 8

func opcodeBars(ops []ncu.Opcode) []chartBar {
	var out []chartBar
	rest := 0.0
	for i, op := range ops {
		if i >= maxOpcodes {
			rest += op.WarpInstructions
			continue
		}
		out = append(out, opcodeBar(op.Name, op.WarpInstructions, op.Share, ops[0].WarpInstructions))
	}
	if rest > 0 {
		out = append(out, opcodeBar("others", rest, rest/(ops[0].WarpInstructions/ops[0].Share),
			ops[0].WarpInstructions))
	}
	return out
}

func opcodeBar(name string, executed, share, most float64) chartBar {
	return chartBar{
		label: name, helpText: opcodeHelp(name), lengthFraction: executed / most, noteText: format.Percent(share),
		fact: ncu.Fact{Label: name, Origin: "source:" + name, Value: ncu.Metric{Value: executed, Measured: true}},
	}
}
