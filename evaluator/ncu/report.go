package ncu

import (
	"maps"
	"slices"
	"strings"
)

// MaxReport limits a report file, in bytes, because the program under ncu can write a forged report.
const MaxReport = 256 << 20

// Report is one parsed ncu report: the kernels in launch order, and warnings about unreadable parts.
type Report struct {
	Version  string   `json:"version,omitempty"` // version of ncu: "2025.3.1.0"
	Kernels  []Kernel `json:"kernels"`
	Warnings []string `json:"warnings,omitempty"` // sentences: what was missing or unreadable
}

// Kernel is one profiled kernel launch.
type Kernel struct {
	ID                int               `json:"id"`   // ncu's result number, unique within the report
	Name              string            `json:"name"` // as printed by ncu, with parameter types
	ShortName         string            `json:"short"`
	GridSize          [3]int            `json:"grid"`
	BlockSize         [3]int            `json:"block"`
	Device            string            `json:"device"` // display name, or the device's number without one
	ComputeCapability string            `json:"cc"`     // compute capability: "9.0"
	ProcessName       string            `json:"process,omitempty"`
	Metrics           map[string]Metric `json:"metrics"` // metrics of the raw page, by name
	Sections          []Section         `json:"sections,omitempty"`
	Rules             []Rule            `json:"rules,omitempty"`
	Source            *Source           `json:"source,omitempty"`

	SortedMetricNames []string `json:"-"` // names of Metrics, sorted; nil unless set by IndexMetrics
}

// IndexMetrics sorts the names of the metrics, which speeds up later views. Metrics must not be added or removed
// afterwards.
func (r *Report) IndexMetrics() {
	for i := range r.Kernels {
		r.Kernels[i].SortedMetricNames = slices.Sorted(maps.Keys(r.Kernels[i].Metrics))
	}
}

// Section is one section of the details page, in ncu's order.
type Section struct {
	Name string       `json:"name"`
	Rows []SectionRow `json:"rows"`
}

// SectionRow is one value of a section with its label. ncu rounds it; the raw page has the exact value.
type SectionRow struct {
	Label string `json:"label"`
	Metric
}

// Rule is one recommendation of Nsight Compute.
type Rule struct {
	Section  string `json:"section"` // ncu's identifier, "WarpStateStats"
	Name     string `json:"name"`
	Severity string `json:"type"` // "OPT" (a possible gain), "INF", "WRN"
	Message  string `json:"message"`
	// Speedup is the estimated gain in percent, or nil. SpeedupType is "global" (of the kernel's time) or "local" (of
	// the part that the rule examines).
	Speedup     *float64 `json:"speedup,omitempty"`
	SpeedupType string   `json:"speedup_type,omitempty"`
}

// Metric returns the named raw metric, or a Metric that is not measured.
func (k *Kernel) Metric(name string) Metric { return k.Metrics[name] }

// SectionValue returns a value of the details page by section and label, or a Metric that is not measured.
func (k *Kernel) SectionValue(section, label string) Metric {
	for _, s := range k.Sections {
		if s.Name != section {
			continue
		}
		for _, r := range s.Rows {
			if r.Label == label {
				return r.Metric
			}
		}
	}
	return Metric{}
}

// Duration returns the kernel's time on the device in nanoseconds.
func (k *Kernel) Duration() (ns float64, ok bool) {
	s, ok := k.Metric("gpu__time_duration.sum").BaseValue()
	return s * 1e9, ok
}

// MetricNames returns the sorted names of the raw metrics.
func (k *Kernel) MetricNames() []string { return k.metricNames("", "") }

// metricNames returns the sorted names with a prefix and a suffix. There are thousands of names, and sorting all of
// them for each view took most of a page's time.
func (k *Kernel) metricNames(prefix, suffix string) []string {
	var names []string
	if k.SortedMetricNames != nil {
		from, _ := slices.BinarySearch(k.SortedMetricNames, prefix)
		for _, name := range k.SortedMetricNames[from:] {
			if !strings.HasPrefix(name, prefix) {
				break
			}
			if strings.HasSuffix(name, suffix) {
				names = append(names, name)
			}
		}
		return names
	}
	for name := range k.Metrics {
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// KernelByID returns the launch with ncu's result number id, or nil.
func (r *Report) KernelByID(id int) *Kernel {
	for i := range r.Kernels {
		if r.Kernels[i].ID == id {
			return &r.Kernels[i]
		}
	}
	return nil
}

// ShortName returns the function name of a demangled C++ signature, without parameters, template arguments, namespaces,
// and return type. It returns other texts unchanged.
func ShortName(name string) string {
	bare := withoutTemplates(strings.TrimSpace(name))
	bare = strings.ReplaceAll(bare, "(anonymous namespace)::", "")
	if i := strings.IndexByte(bare, '('); i > 0 {
		bare = bare[:i]
	}
	bare = strings.TrimSpace(bare)
	if i := strings.LastIndexByte(bare, ' '); i >= 0 {
		bare = bare[i+1:]
	}
	if i := strings.LastIndex(bare, "::"); i >= 0 {
		bare = bare[i+2:]
	}
	if bare == "" {
		return name
	}
	return bare
}

// withoutTemplates removes each balanced <…>. It returns an unbalanced name unchanged.
func withoutTemplates(name string) string {
	var b strings.Builder
	depth := 0
	for _, r := range name {
		switch {
		case r == '<':
			depth++
		case r == '>':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
		if depth < 0 {
			return name
		}
	}
	if depth != 0 {
		return name
	}
	return b.String()
}
