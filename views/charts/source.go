package charts

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

// instructionsPerPage is the number of instructions on one page of the source view.
const instructionsPerPage = 60

// samplesColumn returns the name of the counter of samples, which depends on ncu's version.
func samplesColumn(s *ncu.Source) string {
	for _, name := range ncu.SampleCounters() {
		if s.CounterColumn(name) >= 0 {
			return name
		}
	}
	return ""
}

// codeView is one page of a kernel's instructions.
type codeView struct {
	paging
	rows         []codeRow
	totalSamples float64 // samples of the whole kernel
	largestShare float64 // largest share of an instruction, for the longest bar
	hasLines     bool    // there is line information
	source       sourceLines
	hottestSpot  instructionSpot // instruction with the most samples
	selectedLine string          // source line whose instructions are shown; empty for all
	ptx          []ptxRow
}

// codeRow is one instruction with its counters.
type codeRow struct {
	instructionNumber int // from 1, in program order
	line              ncu.InstructionLine
	sass              string // instruction, with branch targets as instruction numbers
	offset            string
	samples           ncu.Metric
	executedCount     ncu.Metric
	threads           ncu.Metric
	samplesShare      float64 // of the kernel's samples
	mostFrequentStall string  // most frequent stall
	notes             string  // uncoalesced or conflicting accesses
}

// instructionsPage returns the page of the kernel's instructions, or nil if the reader may not see them.
func (vm ProfileView) instructionsPage(k *ncu.Kernel) *codeView {
	if vm.SourceHiddenReason != "" || k.Source == nil || len(k.Source.Lines) == 0 {
		return nil
	}
	v := newInstructionsView(k.Source, vm.Query)
	return &v
}

func lineKey(l ncu.InstructionLine) string { return formatLineKey(l.SourceFile, l.SourceLine) }

// formatLineKey returns a source line as it is in URLs: "submission.cu:7".
func formatLineKey(file string, line int) string { return path.Base(file) + ":" + strconv.Itoa(line) }

func newInstructionsView(s *ncu.Source, q Query) codeView {
	rows := codeRows(s)
	v := codeView{}
	for _, r := range rows {
		v.totalSamples += r.samples.Value
		v.hasLines = v.hasLines || r.line.SourceLine > 0
	}
	for i := range rows {
		if v.totalSamples > 0 {
			rows[i].samplesShare = rows[i].samples.Value / v.totalSamples
		}
		v.largestShare = max(v.largestShare, rows[i].samplesShare)
	}
	v.source = newSourceLines(rows, q)
	v.hottestSpot = hottestInstruction(rows, q.SortBySamples)
	shares := lineShares(rows)
	if chosen := func(l hotSourceLine) bool { return l.key() == q.SourceLine }; slices.ContainsFunc(v.source.rows,
		chosen) {
		v.selectedLine = q.SourceLine
		rows = slices.DeleteFunc(rows, func(r codeRow) bool { return lineKey(r.line) != q.SourceLine })
	}
	if s.PTX != "" && (q.ShowPTX || v.selectedLine != "") {
		v.ptx = ptxRows(s, v.selectedLine, shares)
	}
	if q.ShowPTX && s.PTX != "" {
		v.paging = newPaging(q.CodePage, len(v.ptx), instructionsPerPage)
		v.ptx = v.ptx[v.start:v.end]
		return v
	}
	v.ptx = v.ptx[:min(len(v.ptx), instructionsPerPage)]
	if q.SortBySamples {
		sortHottestFirst(rows)
	}
	v.paging = newPaging(q.CodePage, len(rows), instructionsPerPage)
	v.rows = rows[v.start:v.end]
	fillCodeRows(v.rows, s)
	return v
}

// codeRows returns all instructions with their samples; fillCodeRows adds the other values of the rows on the page.
func codeRows(s *ncu.Source) []codeRow {
	rows, samples := make([]codeRow, len(s.Lines)), s.CounterColumn(samplesColumn(s))
	for i, l := range s.Lines {
		rows[i] = codeRow{instructionNumber: i + 1, line: l}
		if samples >= 0 && samples < len(l.CounterValues) {
			rows[i].samples = ncu.NewMetric(l.CounterValues[samples], "")
		}
	}
	return rows
}

func fillCodeRows(rows []codeRow, s *ncu.Source) {
	stalls, numbers := stallColumns(s), instructionNumbers(s)
	for i, r := range rows {
		at := r.instructionNumber - 1
		rows[i].offset, rows[i].sass = addressOffset(r.line.Address, s.Lines[0].Address),
			withBranchTargets(r.line.Instruction,
				numbers)
		rows[i].executedCount = s.CounterOnLine(at, "Instructions Executed")
		rows[i].threads = s.CounterOnLine(at, "Avg. Predicated-On Threads Executed")
		rows[i].mostFrequentStall, rows[i].notes = mainStall(s, at, stalls), accessNotes(s, at)
	}
}

// addressOffset returns the hexadecimal distance of the address of an instruction from the first address.
func addressOffset(address, first string) string {
	number := func(text string) (uint64, error) { return strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64) }
	at, err := number(address)
	from, firstErr := number(first)
	if err != nil || firstErr != nil || at < from {
		return address
	}
	return strconv.FormatUint(at-from, 16)
}

// branchTargetPattern matches an address in an instruction, which is a branch target.
var branchTargetPattern = regexp.MustCompile(`\b0x[0-9a-f]{4,16}\b`)

// instructionNumbers maps addresses to instruction numbers, from 1.
func instructionNumbers(s *ncu.Source) map[string]int {
	numbers := make(map[string]int, len(s.Lines))
	for i, l := range s.Lines {
		numbers[l.Address] = i + 1
	}
	return numbers
}

// withBranchTargets replaces the addresses in an instruction by numbers of instructions, because addresses differ
// between runs and are in no other column.
func withBranchTargets(sass string, numbers map[string]int) string {
	return branchTargetPattern.ReplaceAllStringFunc(sass, func(address string) string {
		if n, ok := numbers[address]; ok {
			return "#" + strconv.Itoa(n)
		}
		return address
	})
}

// stallName returns the full name for an abbreviation on the source page of Nsight Compute.
func stallName(key string) string {
	switch key {
	case "imc":
		return "constant cache"
	case "lg":
		return "LG queue"
	case "long_sb":
		return "long scoreboard"
	case "math":
		return "math pipe"
	case "mio":
		return "MIO queue"
	case "no_inst":
		return "no instruction"
	case "short_sb":
		return "short scoreboard"
	case "tex":
		return "texture queue"
	}
	return key
}

// stallColumns maps the position of each stall counter to its name.
func stallColumns(s *ncu.Source) map[int]string {
	out := map[int]string{}
	for i, name := range s.Counters {
		stall, ok := strings.CutPrefix(name, "stall_")
		if ok && !strings.Contains(name, "Not Issued") && stall != "selected" {
			out[i] = strings.ReplaceAll(stallName(stall), "_", " ")
		}
	}
	return out
}

func mainStall(s *ncu.Source, line int, stalls map[int]string) string {
	best, most := "", 0.0
	for i, cell := range s.Lines[line].CounterValues {
		name, ok := stalls[i]
		if v := ncu.NewMetric(cell, ""); ok && v.Value > most {
			best, most = name, v.Value
		}
	}
	return best
}

// accessNotes describes problems of a memory instruction, from ncu's counters.
func accessNotes(s *ncu.Source, line int) string {
	var notes []string
	if m := s.CounterOnLine(line, "L2 Theoretical Sectors Global Excessive"); m.Value > 0 {
		notes = append(notes, format.Decimal(m.Value)+" sectors too many")
	}
	if m := s.CounterOnLine(line, "L1 Wavefronts Shared Excessive"); m.Value > 0 {
		notes = append(notes, format.Decimal(m.Value)+" bank conflicts")
	}
	return strings.Join(notes, ", ")
}

// heatClass returns the class of a share of the samples, in six steps.
func heatClass(share float64) string {
	for i, least := range []float64{0.2, 0.1, 0.05, 0.02, 0.005} {
		if share >= least {
			return "pf-heat-" + strconv.Itoa(5-i)
		}
	}
	return "pf-heat-0"
}
