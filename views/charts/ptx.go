package charts

import "warpboard/evaluator/ncu"

// ptxRow is a line of PTX. ncu has no counters for it: it shows the samples of its source line, over all instructions.
type ptxRow struct {
	ncu.PTXLine
	share float64
}

// ptxRows returns the lines of a kernel's PTX, or only those of one source line.
func ptxRows(s *ncu.Source, at string, shares map[string]float64) []ptxRow {
	var rows []ptxRow
	for _, l := range s.PTXLines() {
		key := keyOf(l.File, l.Line)
		if at == "" || l.Line > 0 && key == at {
			rows = append(rows, ptxRow{l, shares[key]})
		}
	}
	return rows
}

// lineShares sums shares of samples over the instructions of each source line.
func lineShares(rows []codeRow) map[string]float64 {
	shares := map[string]float64{}
	for _, r := range rows {
		if r.line.Line > 0 {
			shares[lineKey(r.line)] += r.share
		}
	}
	return shares
}
