package charts

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"

	"warpboard/evaluator/ncu"
)

// metricsPerPage keeps the page small: a report has more than two thousand metrics.
const metricsPerPage = 30

// rawTable is one page of the raw metrics that match the search.
type rawTable struct {
	paging
	metricNames []string
}

// newRawTable selects the metrics with every word of the search in their name or unit. A word after a minus must not
// occur.
func newRawTable(k *ncu.Kernel, q Query) rawTable {
	words := strings.Fields(strings.ToLower(q.MetricSearch))
	var names []string
	for _, name := range k.MetricNames() {
		if len(words) == 0 || containsAllWords(strings.ToLower(name+" "+k.Metric(name).UnitName), words) {
			names = append(names, name)
		}
	}
	// Metrics such as "TPC.TriageCompute…", which have samples over time, are last because few people need them.
	slices.SortStableFunc(names, func(a, b string) int { return rawMetricOrder(a) - rawMetricOrder(b) })
	p := newPaging(q.MetricsPage, len(names), metricsPerPage)
	return rawTable{paging: p, metricNames: names[p.start:p.end]}
}

func rawMetricOrder(name string) int {
	// Intermediate results of Nsight Compute are last, too.
	if name != "" && unicode.IsUpper(rune(name[0])) || strings.Contains(name, "tempMetric") {
		return 1
	}
	return 0
}

// metricGroup is a prefix that many metric names share, such as that of one hardware unit ("lts__"), and serves as a
// search.
type metricGroup struct {
	searchText string
	count      int
}

// metricGroups returns the largest groups of metrics of a kernel, by name prefix. Its counts also include metrics that
// have the prefix inside their name, because the search finds these, too.
func metricGroups(k *ncu.Kernel) []metricGroup {
	const most, least = 9, 10
	var out []metricGroup
	for name := range k.Metrics {
		unitName, _, ok := strings.Cut(name, "__")
		known := func(g metricGroup) bool { return strings.HasPrefix(name, g.searchText) }
		if ok && rawMetricOrder(name) == 0 && !slices.ContainsFunc(out, known) {
			out = append(out, metricGroup{searchText: unitName + "__"})
		}
	}
	for name := range k.Metrics {
		for begin := range searchPrefixes(name) {
			for i := range out {
				if strings.HasSuffix(begin, out[i].searchText) {
					out[i].count++
				}
			}
		}
	}
	out = slices.DeleteFunc(out, func(g metricGroup) bool { return g.count < least })
	slices.SortFunc(out, func(a, b metricGroup) int {
		return cmp.Or(b.count-a.count, strings.Compare(a.searchText, b.searchText))
	})
	return out[:min(len(out), most)]
}

// searchPrefixes iterates over the prefixes of a metric name that end with "__". metricGroups compares them with the
// search texts of its groups, which takes half the time of searching each name for each text.
func searchPrefixes(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for end := strings.Index(name, "__"); end >= 0 && yield(name[:end+2]); {
			next := strings.Index(name[end+2:], "__")
			if next < 0 {
				return
			}
			end += 2 + next
		}
	}
}

func containsAllWords(text string, words []string) bool {
	for _, w := range words {
		not, word := false, w
		if rest, ok := strings.CutPrefix(w, "-"); ok && rest != "" {
			not, word = true, rest
		}
		if strings.Contains(text, word) == not {
			return false
		}
	}
	return true
}
