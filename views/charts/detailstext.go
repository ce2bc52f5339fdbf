package charts

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"warpboard/evaluator/ncu"
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

// speedupText says what a rule's percentage is of.
func speedupText(r ncu.Rule) string {
	if r.SpeedupType == "local" {
		return "estimated speed-up of this part"
	}
	return "estimated speed-up"
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

// linked finds the addresses of NVIDIA's manual in a message. No other becomes a link: the program
// under the profiler can write a report of its own making.
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
