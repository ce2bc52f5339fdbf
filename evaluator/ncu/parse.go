package ncu

import "regexp"

// CSVPages has the pages that ncu prints for one report. Any page may be empty; the others are still parsed.
type CSVPages struct {
	Version     string // output of `ncu --version`
	DetailsPage []byte // --page details --csv
	RawPage     []byte // --page raw --csv
	SourcePage  []byte // --page source --print-source sass --csv
	SourceLines []byte // --page source --print-source cuda,sass --csv; useful only with line information
}

// CSVPageNames returns the names of the pages for CSVPages.SetPage.
func CSVPageNames() []string { return []string{"details", "raw", "source", "lines"} }

// SetPage stores the output for a page of CSVPageNames; other names are ignored.
func (p *CSVPages) SetPage(page string, out []byte) {
	switch page {
	case "details":
		p.DetailsPage = out
	case "raw":
		p.RawPage = out
	case "source":
		p.SourcePage = out
	case "lines":
		p.SourceLines = out
	}
}

var versionNumber = regexp.MustCompile(`\d{4}\.\d+\.\d+(\.\d+)?`)

// FindVersion returns the first version number in a text, such as "2025.3.1.0", or "".
func FindVersion(text string) string { return versionNumber.FindString(text) }

// ParsePages parses the pages of one report. It never fails: the Warnings of the report list parts that are not
// readable.
func ParsePages(p CSVPages) *Report {
	r := &Report{Version: FindVersion(p.Version), Kernels: []Kernel{}}
	r.readRaw(p.RawPage)
	r.readDetails(p.DetailsPage)
	if len(p.SourcePage) > 0 {
		r.attachSource(readSections(p.SourcePage, r.addWarning), readLines(p.SourceLines))
	}
	for i := range r.Kernels {
		r.Kernels[i].setDerivedFields(r.addWarning)
	}
	if len(r.Kernels) == 0 {
		r.addWarning("The report holds no kernel.")
	}
	return r
}

// setDerivedFields sets fields that depend on several metrics. It adds a warning about NaN counters, which some
// versions of ncu report with some drivers, because pages then have gaps.
func (k *Kernel) setDerivedFields(warn func(string)) {
	if name := k.Metric("device__attribute_display_name"); name.HasValue() {
		k.Device = name.Text
	}
	if len(k.Metrics) == 0 {
		return
	}
	for _, name := range []string{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__time_duration.sum"} {
		if !k.Metric(name).Measured {
			warn("Basic counters of " + k.ShortName + " were not measured; this ncu version may not fit the driver.")
		}
	}
}
