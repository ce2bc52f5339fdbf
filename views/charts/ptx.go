package charts

import "warpboard/evaluator/ncu"

// ptxRow is a line of PTX with a share of the kernel's samples. Nsight Compute counts samples only for SASS
// instructions, so the share sums up all SASS instructions that were compiled from the same source line.
// All PTX instructions of one source line have the same share, so shares of rows must not be added.
type ptxRow struct {
	ncu.PTXLine
	samplesShare float64
}

// ptxRows returns the PTX lines of a kernel. at limits them to those of one source line; "" means all.
func ptxRows(s *ncu.Source, at string, shares map[string]float64) []ptxRow {
	var rows []ptxRow
	for _, l := range s.PTXLines() {
		key := formatLineKey(l.SourceFile, l.SourceLine)
		if at == "" || l.SourceLine > 0 && key == at {
			rows = append(rows, ptxRow{l, shares[key]})
		}
	}
	return rows
}

// lineShares returns the share of samples of each source line, summed over its instructions.
func lineShares(rows []codeRow) map[string]float64 {
	shares := map[string]float64{}
	for _, r := range rows {
		if r.line.SourceLine > 0 {
			shares[lineKey(r.line)] += r.samplesShare
		}
	}
	return shares
}
