package ncu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Source is a kernel's machine code with the counters of each instruction.
type Source struct {
	Counters []string          `json:"counters"` // names, in ncu's order
	Lines    []InstructionLine `json:"lines"`
	// PTX is the kernel's PTX; empty if it is not known.
	PTX string `json:"ptx,omitempty"`
}

// InstructionLine is one instruction of the machine code. CounterValues has ncu's text for each of Source.Counters.
type InstructionLine struct {
	Address       string   `json:"address"` // "0x7f29537a0000"
	Instruction   string   `json:"sass"`
	SourceFile    string   `json:"file,omitempty"` // source file and line, if there is line information
	SourceLine    int      `json:"line,omitempty"`
	SourceText    string   `json:"text,omitempty"` // text of the source line
	CounterValues []string `json:"cells"`
}

// CounterOnLine returns the value of a counter on a line. If it is absent or "-", it is not measured.
func (s *Source) CounterOnLine(line int, name string) Metric {
	for i, c := range s.Counters {
		if c == name && i < len(s.Lines[line].CounterValues) {
			return NewMetric(s.Lines[line].CounterValues[i], "")
		}
	}
	return Metric{}
}

// CounterColumn returns the index of the named counter, or -1.
func (s *Source) CounterColumn(name string) int {
	for i, c := range s.Counters {
		if c == name {
			return i
		}
	}
	return -1
}

// sourceSection is one table of the source page. ncu prints one or more tables per launch.
type sourceSection struct {
	name          string
	addressColumn int // columns; the counters follow the instruction's
	sass          int
	source        Source
}

// readSections parses the SASS tables of the source page: a line with the kernel's name, a header with Address and,
// somewhere after it, Source, then one row per instruction. Columns before Address, which some forms of the page have
// (a number, the source lines), are ignored.
func readSections(page []byte, warn func(string)) []sourceSection {
	rows, cut := csvRecords(page)
	if cut {
		warn("The source page ends in the middle of a line; that line was left out.")
	}
	var out []sourceSection
	var current *sourceSection
	for _, row := range rows {
		switch {
		case len(row) >= 2 && (row[0] == "Kernel Name" || row[0] == "Function Name"):
			out = append(out, sourceSection{name: row[1]})
			current = &out[len(out)-1]
		case current == nil:
		case hasAllColumns(row, "Address", "Source"):
			current.beginTable(row)
		case current.source.Counters != nil && len(row) > current.sass && strings.HasPrefix(row[current.addressColumn], "0x"):
			current.source.addInstruction(row[current.addressColumn], row[current.sass], row[current.sass+1:], warn)
		}
	}
	if len(out) == 0 {
		warn("The source page names no kernel, so no instruction could be read from it.")
	}
	return out
}

func (s *sourceSection) beginTable(header []string) {
	s.addressColumn = slices.Index(header, "Address")
	after := slices.Index(header[s.addressColumn:], "Source")
	if after < 0 {
		return
	}
	s.sass = s.addressColumn + after
	s.source.Counters = append([]string{}, header[s.sass+1:]...)
}

func (s *Source) addInstruction(address, sass string, cells []string, warn func(string)) {
	if len(cells) != len(s.Counters) {
		warn(fmt.Sprintf("Instruction %s has %d counters where its table has %d.", clipText(address), len(cells), len(s.Counters)))
	}
	if len(cells) > len(s.Counters) {
		cells = cells[:len(s.Counters)]
	}
	s.Lines = append(s.Lines, InstructionLine{Address: address, Instruction: sass, CounterValues: cells})
}

// attachSource assigns each kernel its table. Launches with the same name get them in order. ncu prints the table of
// each launch twice if it imported sources, so the tables are divided evenly. The source page may contain longer names
// than other pages (namespaces, template arguments); such tables are matched by the function name.
func (r *Report) attachSource(sections []sourceSection, lines map[string]sourceLineRef) {
	taken := map[string]bool{}
	full := func(name string) string { return name }
	for _, spelling := range []func(string) string{full, ShortName} {
		tables := map[string][]int{}
		for i, s := range sections {
			if !taken[s.name] {
				tables[spelling(s.name)] = append(tables[spelling(s.name)], i)
			}
		}
		launches := map[string][]int{}
		for i, k := range r.Kernels {
			if k.Source == nil {
				launches[spelling(k.Name)] = append(launches[spelling(k.Name)], i)
				taken[k.Name] = true
			}
		}
		for name, kernels := range launches {
			r.assignSources(kernels, tables[name], sections, lines)
		}
	}
}

func (r *Report) assignSources(kernels, tables []int, sections []sourceSection, lines map[string]sourceLineRef) {
	if len(tables) == 0 {
		return
	}
	step := max(1, len(tables)/len(kernels))
	for i, k := range kernels {
		code := sections[tables[min(i*step, len(tables)-1)]].source
		code.setSourceLines(lines)
		r.Kernels[k].Source = &code
	}
}

// sourceLineRef is the source file and line of an instruction.
type sourceLineRef struct {
	file string
	line int
	text string
}

// readLines parses the cuda,sass form of the source page and returns the source line of each address. The page has a
// File Path line, a Function Name line, and a header "Line No, Source, Address, Source, …". Rows follow with a numbered
// source line; each is followed by its instructions (with an address), or contains an instruction. Without line
// information, and in forms without addresses (cuda, ptx), the result is empty.
func readLines(page []byte) map[string]sourceLineRef {
	out := map[string]sourceLineRef{}
	rows, _ := csvRecords(page)
	var file string
	var at sourceLineRef
	var header map[string]int
	for _, row := range rows {
		if len(row) >= 2 && (row[0] == "File Path" || row[0] == "Function Name") {
			if header = nil; row[0] == "File Path" {
				file = row[1]
			}
			continue
		}
		if hasAllColumns(row, "Line No", "Source", "Address") {
			header, at = columnIndexes(row), sourceLineRef{}
			continue
		}
		if n, err := strconv.Atoi(cellInColumn(row, header, "Line No")); err == nil {
			at = sourceLineRef{file: file, line: n, text: cellInColumn(row, header, "Source")}
		}
		address := cellInColumn(row, header, "Address")
		if _, seen := out[address]; strings.HasPrefix(address, "0x") && at.line > 0 && !seen {
			out[address] = at
		}
	}
	return out
}

// setSourceLines sets each instruction's source line.
func (s *Source) setSourceLines(lines map[string]sourceLineRef) {
	if len(lines) == 0 {
		return
	}
	linked := make([]InstructionLine, len(s.Lines))
	for i, l := range s.Lines {
		if ref, ok := lines[l.Address]; ok {
			l.SourceFile, l.SourceLine, l.SourceText = ref.file, ref.line, ref.text
		}
		linked[i] = l
	}
	s.Lines = linked
}
