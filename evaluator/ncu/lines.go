package ncu

import (
	"strconv"
	"strings"
)

// lineRef is the source line that an instruction came from.
type lineRef struct {
	file string
	line int
	text string
}

// readLines reads the cuda,sass form of the source page: a File Path line and a Function Name line,
// a header "Line No, Source, Address, Source, …", then rows of a source line (numbered) each followed
// by its instructions (with an address), or with the instruction in the same row. It returns the line
// of each address. Without line information ncu prints no such table, and the map is empty; so it is
// for the forms that know no address (cuda, ptx).
func readLines(page []byte) map[string]lineRef {
	out := map[string]lineRef{}
	rows, _ := records(page)
	var file string
	var at lineRef
	var header map[string]int
	for _, row := range rows {
		if len(row) >= 2 && (row[0] == "File Path" || row[0] == "Function Name") {
			if header = nil; row[0] == "File Path" {
				file = row[1]
			}
			continue
		}
		if hasAll(row, "Line No", "Source", "Address") {
			header, at = columns(row), lineRef{}
			continue
		}
		if n, err := strconv.Atoi(cell(row, header, "Line No")); err == nil {
			at = lineRef{file: file, line: n, text: cell(row, header, "Source")}
		}
		address := cell(row, header, "Address")
		if _, seen := out[address]; strings.HasPrefix(address, "0x") && at.line > 0 && !seen {
			out[address] = at
		}
	}
	return out
}

// link copies each instruction's source line into it.
func (s *Source) link(lines map[string]lineRef) {
	if len(lines) == 0 {
		return
	}
	linked := make([]SourceLine, len(s.Lines))
	for i, l := range s.Lines {
		if ref, ok := lines[l.Address]; ok {
			l.File, l.Line, l.Text = ref.file, ref.line, ref.text
		}
		linked[i] = l
	}
	s.Lines = linked
}
