package profile

import (
	"strings"

	ncu "warpboard/evaluator/profile"
)

// rawPageSize keeps the page small: a report has more than two thousand metrics.
const rawPageSize = 30

// rawTable is one page of the raw metrics that match the search.
type rawTable struct {
	paging
	names []string
}

// newRawTable filters by every word of the search, in a metric's name or unit; a word that starts
// with a minus must not occur.
func newRawTable(k *ncu.Kernel, q Query) rawTable {
	words := strings.Fields(strings.ToLower(q.Search))
	var names []string
	for _, name := range k.MetricNames() {
		if matches(strings.ToLower(name+" "+k.Metric(name).Unit), words) {
			names = append(names, name)
		}
	}
	p := newPaging(q.Page, len(names), rawPageSize)
	return rawTable{paging: p, names: names[p.from:p.to]}
}

func matches(text string, words []string) bool {
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
