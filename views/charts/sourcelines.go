package charts

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"warpboard/views/format"
)

// maxSourceLines limits the source lines next to the instructions; those with the fewest samples are omitted.
const maxSourceLines = 60

// sourceLines are the source lines that have instructions, with the sum of the samples.
type sourceLines struct {
	rows           []hotSourceLine
	totalCount     int
	largestShare   float64 // largest share of a line, for the longest bar
	isHottestFirst bool    // hottest first; otherwise in file order
	file           string  // file of all lines; empty if there are several
}

// hotSourceLine is a source line of the submission with the sum of the samples of its instructions.
type hotSourceLine struct {
	file             string
	line             int
	text             string
	samplesShare     float64
	instructionCount int             // number of instructions
	hottestSpot      instructionSpot // the hottest instruction
}

// key returns file and line as they are in the URL of the page.
func (l hotSourceLine) key() string { return formatLineKey(l.file, l.line) }

// instructionSpot is an instruction and the number of its page in the table.
type instructionSpot struct {
	instructionNumber, page int
	samplesShare            float64
}

// instructionURL returns the address of the page of an instruction in the table of all.
func instructionURL(vm ProfileView, s instructionSpot) string {
	return vm.Query.withSourceLine("").withPTX(false).withCodePage(s.page).URL(vm.PagePath) + "#i" +
		strconv.Itoa(s.instructionNumber)
}

// newSourceLines sums samples over the instructions of each source line.
func newSourceLines(rows []codeRow, q Query) sourceLines {
	at, pages := map[string]int{}, pagesOfInstructions(rows, q.SortBySamples)
	s := sourceLines{isHottestFirst: q.SortBySamples}
	for _, r := range rows {
		if r.line.SourceLine == 0 {
			continue
		}
		key := lineKey(r.line)
		i, seen := at[key]
		if !seen {
			i = len(s.rows)
			at[key] = i
			s.rows = append(s.rows, hotSourceLine{
				file:        r.line.SourceFile,
				line:        r.line.SourceLine,
				text:        strings.TrimRight(r.line.SourceText, " \t\r\n"),
				hottestSpot: instructionSpot{samplesShare: -1},
			})
		}
		l := &s.rows[i]
		l.samplesShare += r.samplesShare
		l.instructionCount++
		if r.samplesShare > l.hottestSpot.samplesShare {
			l.hottestSpot = instructionSpot{r.instructionNumber, pages[r.instructionNumber], r.samplesShare}
		}
		s.largestShare = max(s.largestShare, l.samplesShare)
	}
	s.totalCount = len(s.rows)
	if name := func(l hotSourceLine) string { return path.Base(l.file) }; s.totalCount > 0 && !slices.ContainsFunc(s.rows, func(l hotSourceLine) bool { return name(l) != name(s.rows[0]) }) {
		s.file = name(s.rows[0])
	}
	slices.SortStableFunc(s.rows, func(a, b hotSourceLine) int { return cmp.Compare(b.samplesShare, a.samplesShare) })
	s.rows = s.rows[:min(len(s.rows), maxSourceLines)]
	if !s.isHottestFirst {
		slices.SortStableFunc(s.rows, func(a, b hotSourceLine) int { return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line) })
	}
	return s
}

// caption returns the caption of the table, which says what is omitted.
func (s sourceLines) caption() string {
	text := "Source lines"
	if s.file != "" {
		text += " of " + shortenName(s.file, 60)
	}
	if s.isHottestFirst {
		text += ", hottest first"
	}
	if s.totalCount > len(s.rows) {
		text += ": the hottest " + format.Count(int64(len(s.rows))) + " of " + format.Count(int64(s.totalCount))
	}
	return text
}

// hottestLine returns the line with the most samples; nil if no line has any.
func (s sourceLines) hottestLine() *hotSourceLine {
	for i := range s.rows {
		if s.rows[i].samplesShare == s.largestShare && s.largestShare > 0 {
			return &s.rows[i]
		}
	}
	return nil
}

// hottestInstruction returns the instruction with the most samples; its index is -1 without samples.
func hottestInstruction(rows []codeRow, hottestFirst bool) (best instructionSpot) {
	pages := pagesOfInstructions(rows, hottestFirst)
	for _, r := range rows {
		if r.samplesShare > best.samplesShare {
			best = instructionSpot{r.instructionNumber, pages[r.instructionNumber], r.samplesShare}
		}
	}
	return best
}

// pagesOfInstructions maps each instruction to the number of its page in the table of all.
func pagesOfInstructions(rows []codeRow, hot bool) map[int]int {
	if hot {
		rows = slices.Clone(rows)
		sortHottestFirst(rows)
	}
	pages := make(map[int]int, len(rows))
	for i, r := range rows {
		pages[r.instructionNumber] = i/instructionsPerPage + 1
	}
	return pages
}

func sortHottestFirst(rows []codeRow) {
	slices.SortStableFunc(rows, func(a, b codeRow) int { return cmp.Compare(b.samplesShare, a.samplesShare) })
}
