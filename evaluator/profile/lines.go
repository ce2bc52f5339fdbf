package profile

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
// by its instructions (with an address). It returns the line of each address. Without line
// information ncu prints no such table, and the map is empty.
func readLines(page []byte) map[string]lineRef {
	out := map[string]lineRef{}
	rows, _ := records(page)
	var file string
	var at lineRef
	table := false
	for _, row := range rows {
		switch {
		case len(row) >= 2 && row[0] == "File Path":
			file, table = row[1], false
		case len(row) >= 4 && row[0] == "Line No" && row[2] == "Address":
			table, at = true, lineRef{}
		case !table || len(row) < 4:
		default:
			if n, err := strconv.Atoi(row[0]); err == nil {
				at = lineRef{file: file, line: n, text: row[1]}
			}
			if _, seen := out[row[2]]; strings.HasPrefix(row[2], "0x") && at.line > 0 && !seen {
				out[row[2]] = at
			}
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
