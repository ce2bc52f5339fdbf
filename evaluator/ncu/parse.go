package ncu

import "regexp"

// Pages is what ncu printed for one report. Any of them may be empty: the rest is still read.
type Pages struct {
	Version string // output of `ncu --version`
	Details []byte // --page details --csv
	Raw     []byte // --page raw --csv
	Source  []byte // --page source --print-source sass --csv
	Lines   []byte // --page source --print-source cuda,sass --csv; useful only with line information
}

// PageNames are the pages of a report that are read, by their names in Pages.Set.
func PageNames() []string { return []string{"details", "raw", "source", "lines"} }

// Set stores one page's output by its name in PageNames; other names are ignored.
func (p *Pages) Set(page string, out []byte) {
	switch page {
	case "details":
		p.Details = out
	case "raw":
		p.Raw = out
	case "source":
		p.Source = out
	case "lines":
		p.Lines = out
	}
}

var versionNumber = regexp.MustCompile(`\d{4}\.\d+\.\d+(\.\d+)?`)

// Version is the version of ncu that a text names, such as "2025.3.1.0"; empty if there is none.
func Version(text string) string { return versionNumber.FindString(text) }

// Parse reads the pages of one report. It never fails: what cannot be read is left out and named
// in the report's Warnings.
func Parse(p Pages) *Report {
	r := &Report{Version: Version(p.Version), Kernels: []Kernel{}}
	r.readRaw(p.Raw)
	r.readDetails(p.Details)
	if len(p.Source) > 0 {
		r.attachSource(readSections(p.Source, r.warn), readLines(p.Lines))
	}
	for i := range r.Kernels {
		r.Kernels[i].finish(r.warn)
	}
	if len(r.Kernels) == 0 {
		r.warn("The report holds no kernel.")
	}
	return r
}

// finish sets what needs the whole kernel, and warns of counters that came out as NaN: some ncu
// versions do so on some drivers, and a page of gaps must say why.
func (k *Kernel) finish(warn func(string)) {
	if name := k.Metric("device__attribute_display_name"); name.Present() {
		k.Device = name.Text
	}
	if len(k.Metrics) == 0 {
		return
	}
	for _, name := range []string{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__time_duration.sum"} {
		if !k.Metric(name).Measured {
			warn("Basic counters of " + k.Short + " were not measured; this ncu version may not fit the driver.")
		}
	}
}
