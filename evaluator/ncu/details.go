package ncu

// readDetails adds sections and rules from the details page: one row per metric or rule.
func (r *Report) readDetails(page []byte) {
	rows, cut := records(page)
	if cut {
		r.warn("The details page ends in the middle of a line; that line was left out.")
	}
	if foreign(rows) {
		r.warn("The details page was printed with decimal commas, so none of its numbers could be read; ncu must run with LC_ALL=C.")
		return
	}
	start := tableStart(rows, "ID", "Section Name")
	if start < 0 {
		r.warn("The details page has no header with ID and Section Name, so sections and rules are missing.")
		return
	}
	at := columns(rows[start])
	for _, row := range rows[start+1:] {
		if k := r.kernel(row, at, "details"); k != nil {
			k.addDetail(row, at)
		}
	}
}

func (k *Kernel) addDetail(row []string, at map[string]int) {
	section := cell(row, at, "Section Name")
	// A report has some twenty sections; the bound keeps a forged one from costing quadratic time.
	const mostSections = 200
	if len(k.Sections) >= mostSections {
		return
	}
	if label := cell(row, at, "Metric Name"); label != "" {
		k.section(section).add(label, NewMetric(cell(row, at, "Metric Value"), cell(row, at, "Metric Unit")))
	}
	message := cell(row, at, "Rule Description")
	if message == "" {
		return
	}
	rule := Rule{
		Section: section, Name: cell(row, at, "Rule Name"), Type: cell(row, at, "Rule Type"),
		Message: message, SpeedupType: cell(row, at, "Estimated Speedup Type"),
	}
	if v, ok := number(cell(row, at, "Estimated Speedup")); ok {
		rule.Speedup = &v
	}
	k.Rules = append(k.Rules, rule)
}

func (s *Section) add(label string, m Metric) {
	s.Rows = append(s.Rows, Row{Label: label, Metric: m})
}

func (k *Kernel) section(name string) *Section {
	for i := range k.Sections {
		if k.Sections[i].Name == name {
			return &k.Sections[i]
		}
	}
	k.Sections = append(k.Sections, Section{Name: name})
	return &k.Sections[len(k.Sections)-1]
}
