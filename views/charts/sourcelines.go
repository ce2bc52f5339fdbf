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
	rows    []hotLine
	total   int
	hottest float64 // largest share of a line, for the longest bar
	sorted  bool    // hottest first; otherwise in file order
	file    string  // file of all lines; empty if there are several
}

// hotLine is a source line of the submission with the sum of the samples of its instructions.
type hotLine struct {
	file             string
	line             int
	text             string
	share            float64
	instructionCount int  // number of instructions
	hottestSpot      spot // the hottest instruction
}

// key returns file and line as they are in the URL of the page.
func (l hotLine) key() string { return keyOf(l.file, l.line) }

// spot is an instruction and the number of its page in the table.
type spot struct {
	index, page int
	share       float64
}

// spotURL returns the address of the page of an instruction in the table of all.
func spotURL(vm DetailsVM, s spot) string {
	return vm.Query.withSourceLine("").withPTX(false).withCodePage(s.page).URL(vm.Path) + "#i" + strconv.Itoa(s.index)
}

// newSourceLines sums samples over the instructions of each source line.
func newSourceLines(rows []codeRow, q Query) sourceLines {
	at, pages := map[string]int{}, pagesOf(rows, q.SortBySamples)
	s := sourceLines{sorted: q.SortBySamples}
	for _, r := range rows {
		if r.line.Line == 0 {
			continue
		}
		key := lineKey(r.line)
		i, seen := at[key]
		if !seen {
			i = len(s.rows)
			at[key] = i
			s.rows = append(s.rows, hotLine{
				file:        r.line.File,
				line:        r.line.Line,
				text:        strings.TrimRight(r.line.Text, " \t\r\n"),
				hottestSpot: spot{share: -1},
			})
		}
		l := &s.rows[i]
		l.share += r.share
		l.instructionCount++
		if r.share > l.hottestSpot.share {
			l.hottestSpot = spot{r.index, pages[r.index], r.share}
		}
		s.hottest = max(s.hottest, l.share)
	}
	s.total = len(s.rows)
	if name := func(l hotLine) string { return path.Base(l.file) }; s.total > 0 && !slices.ContainsFunc(s.rows, func(l hotLine) bool { return name(l) != name(s.rows[0]) }) {
		s.file = name(s.rows[0])
	}
	slices.SortStableFunc(s.rows, func(a, b hotLine) int { return cmp.Compare(b.share, a.share) })
	s.rows = s.rows[:min(len(s.rows), maxSourceLines)]
	if !s.sorted {
		slices.SortStableFunc(s.rows, func(a, b hotLine) int { return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line) })
	}
	return s
}

// caption returns the caption of the table, which says what is omitted.
func (s sourceLines) caption() string {
	text := "Source lines"
	if s.file != "" {
		text += " of " + shortenName(s.file, 60)
	}
	if s.sorted {
		text += ", hottest first"
	}
	if s.total > len(s.rows) {
		text += ": the hottest " + format.Count(int64(len(s.rows))) + " of " + format.Count(int64(s.total))
	}
	return text
}

// hottestLine returns the line with the most samples; nil if no line has any.
func (s sourceLines) hottestLine() *hotLine {
	for i := range s.rows {
		if s.rows[i].share == s.hottest && s.hottest > 0 {
			return &s.rows[i]
		}
	}
	return nil
}

// hottestOf returns the instruction with the most samples; its index is -1 without samples.
func hottestOf(rows []codeRow, hottestFirst bool) (best spot) {
	pages := pagesOf(rows, hottestFirst)
	for _, r := range rows {
		if r.share > best.share {
			best = spot{r.index, pages[r.index], r.share}
		}
	}
	return best
}

// pagesOf maps each instruction to the number of its page in the table of all.
func pagesOf(rows []codeRow, hot bool) map[int]int {
	if hot {
		rows = slices.Clone(rows)
		hottestFirst(rows)
	}
	pages := make(map[int]int, len(rows))
	for i, r := range rows {
		pages[r.index] = i/codePageSize + 1
	}
	return pages
}

func hottestFirst(rows []codeRow) {
	slices.SortStableFunc(rows, func(a, b codeRow) int { return cmp.Compare(b.share, a.share) })
}
