package ncu

import (
	"fmt"
	"strconv"
	"strings"
)

// isIdentityColumn reports whether a column of the raw page describes the launch. All others are metrics.
func isIdentityColumn(column string) bool {
	switch column {
	case "", "ID", "Process ID", "Process Name", "Host Name", "Kernel Name",
		"Context", "Stream", "Block Size", "Grid Size", "Device", "CC":
		return true
	}
	// The names of NVTX columns contain their format.
	return strings.Contains(column, "Push/Pop_Range") || strings.Contains(column, "Start/Stop_Range")
}

// readRaw reads the kernels from the raw page, which has one row per launch. A separate row without an ID has the units
// of the columns.
func (r *Report) readRaw(page []byte) {
	rows, cut := csvRecords(page)
	if cut {
		r.addWarning("The raw page ends in the middle of a line; that line was left out.")
	}
	if usesDecimalCommas(rows) {
		r.addWarning("The raw page was printed with decimal commas, so none of its numbers could be read; ncu must run with LC_ALL=C.")
		return
	}
	start := findHeaderRow(rows, "ID", "Kernel Name")
	if start < 0 {
		r.addWarning("The raw page has no header with ID and Kernel Name, so no metric could be read from it.")
		return
	}
	header, rows := rows[start], rows[start+1:]
	at := columnIndexes(header)
	unitNames := make([]string, len(header))
	if len(rows) > 0 && cellInColumn(rows[0], at, "ID") == "" {
		copy(unitNames, rows[0])
		rows = rows[1:]
	} else if len(rows) > 0 {
		r.addWarning("The raw page has no row of units; its numbers are shown without one.")
	}
	for _, row := range rows {
		k := r.kernelOfRow(row, at, "raw")
		if k == nil {
			continue
		}
		if len(row) < len(header) {
			r.addWarning(fmt.Sprintf("Kernel %d has %d of %d columns on the raw page; the others count as not measured.", k.ID, len(row), len(header)))
		}
		k.Metrics = metricsOfRow(header, unitNames, row)
	}
}

func metricsOfRow(header, unitNames, row []string) map[string]Metric {
	out := make(map[string]Metric, len(header))
	for i, name := range header {
		if i >= len(row) {
			break
		}
		if isIdentityColumn(name) {
			continue
		}
		out[name] = NewMetric(row[i], unitNames[i])
	}
	return out
}

// maxReportKernels limits the kernels of a report, which comes from an untrusted run. It is far above
// nsight.DefaultMaxLaunches.
const maxReportKernels = 256

// kernelOfRow returns the kernel of a row and adds it if it is new. It returns nil and adds a warning if the row has no
// valid ID.
func (r *Report) kernelOfRow(row []string, at map[string]int, page string) *Kernel {
	id, err := strconv.Atoi(cellInColumn(row, at, "ID"))
	if err != nil {
		r.addWarning(fmt.Sprintf("A row of the %s page has the ID %q, which is not a number; it was left out.", page, clipText(cellInColumn(row, at, "ID"))))
		return nil
	}
	if k := r.KernelByID(id); k != nil {
		return k
	}
	if len(r.Kernels) == maxReportKernels {
		r.addWarning(fmt.Sprintf("The report has more than %d kernels; the others were left out.", maxReportKernels))
		return nil
	}
	name := cellInColumn(row, at, "Kernel Name")
	r.Kernels = append(r.Kernels, Kernel{
		ID: id, Name: name, ShortName: ShortName(name),
		GridSize:          parseTriple(cellInColumn(row, at, "Grid Size")),
		BlockSize:         parseTriple(cellInColumn(row, at, "Block Size")),
		Device:            cellInColumn(row, at, "Device"),
		ComputeCapability: cellInColumn(row, at, "CC"),
		ProcessName:       cellInColumn(row, at, "Process Name"),
	})
	return &r.Kernels[len(r.Kernels)-1]
}

// parseTriple parses "(16, 16, 1)"; missing numbers are zero.
func parseTriple(s string) (out [3]int) {
	parts := strings.Split(strings.Trim(s, "() "), ",")
	for i, p := range parts {
		if i == len(out) {
			break
		}
		out[i], _ = strconv.Atoi(strings.TrimSpace(p))
	}
	return out
}

// addWarning adds a sentence unless it exists or there are too many.
func (r *Report) addWarning(sentence string) {
	const most = 20
	for _, w := range r.Warnings {
		if w == sentence {
			return
		}
	}
	if len(r.Warnings) < most {
		r.Warnings = append(r.Warnings, sentence)
	}
}

func clipText(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// readDetails adds sections and rules from the details page, which has one row per metric or rule.
func (r *Report) readDetails(page []byte) {
	rows, cut := csvRecords(page)
	if cut {
		r.addWarning("The details page ends in the middle of a line; that line was left out.")
	}
	if usesDecimalCommas(rows) {
		r.addWarning("The details page was printed with decimal commas, so none of its numbers could be read; ncu must run with LC_ALL=C.")
		return
	}
	start := findHeaderRow(rows, "ID", "Section Name")
	if start < 0 {
		r.addWarning("The details page has no header with ID and Section Name, so sections and rules are missing.")
		return
	}
	at := columnIndexes(rows[start])
	for _, row := range rows[start+1:] {
		if k := r.kernelOfRow(row, at, "details"); k != nil {
			k.addDetailRow(row, at)
		}
	}
}

func (k *Kernel) addDetailRow(row []string, at map[string]int) {
	section := cellInColumn(row, at, "Section Name")
	// A report has about twenty sections. The limit prevents quadratic time for a forged report.
	const mostSections = 200
	if len(k.Sections) >= mostSections {
		return
	}
	if label := cellInColumn(row, at, "Metric Name"); label != "" {
		k.sectionByName(section).addRow(label, NewMetric(cellInColumn(row, at, "Metric Value"),
			cellInColumn(row, at, "Metric Unit")))
	}
	message := cellInColumn(row, at, "Rule Description")
	if message == "" {
		return
	}
	rule := Rule{
		Section: section, Name: cellInColumn(row, at, "Rule Name"), Severity: cellInColumn(row, at, "Rule Type"),
		Message: message, SpeedupType: cellInColumn(row, at, "Estimated Speedup Type"),
	}
	if v, ok := parseNumber(cellInColumn(row, at, "Estimated Speedup")); ok {
		rule.Speedup = &v
	}
	k.Rules = append(k.Rules, rule)
}

func (s *Section) addRow(label string, m Metric) {
	s.Rows = append(s.Rows, SectionRow{Label: label, Metric: m})
}

func (k *Kernel) sectionByName(name string) *Section {
	for i := range k.Sections {
		if k.Sections[i].Name == name {
			return &k.Sections[i]
		}
	}
	k.Sections = append(k.Sections, Section{Name: name})
	return &k.Sections[len(k.Sections)-1]
}
