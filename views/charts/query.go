package charts

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"warpboard/views/format"
)

// Query is the state of the details page, all of which is in the URL.
type Query struct {
	Case          int    // benchmark case
	Kernel        int    // ncu's kernel number; -1 for the longest kernel
	MetricSearch  string // filter of the raw metrics
	MetricsPage   int    // page of the raw metrics, from 1
	CodePage      int    // page of the source view, from 1
	SortBySamples bool   // source view sorted by samples
	ShowPTX       bool   // source view shows PTX
	SourceLine    string // "submission.cu:7" for only the instructions of this line; empty for all
	Zoom          Zoom   // zoom of the roofline
	PinnedRun     int    // run whose profile is the baseline, shown as ticks on bars; 0 for none
}

// ReadQuery parses the URL of a details page; missing or invalid parts get their default values.
func ReadQuery(v url.Values) Query {
	search := v.Get("q")
	if len(search) > 100 {
		search = search[:100]
	}
	at := v.Get("at")
	if len(at) > 100 {
		at = ""
	}
	return Query{
		SourceLine:    strings.ToValidUTF8(at, ""),
		Case:          numberAtLeast(v.Get("case"), 0, 0),
		Kernel:        numberAtLeast(v.Get("kernel"), 0, -1),
		MetricSearch:  strings.ToValidUTF8(search, ""),
		MetricsPage:   numberAtLeast(v.Get("page"), 1, 1),
		CodePage:      numberAtLeast(v.Get("code"), 1, 1),
		SortBySamples: v.Get("sort") == "hot",
		ShowPTX:       v.Get("show") == "ptx",
		Zoom:          readZoom(v.Get("zoom")),
		PinnedRun:     numberAtLeast(v.Get("pin"), 1, 0),
	}
}

func numberAtLeast(s string, least, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < least {
		return otherwise
	}
	return n
}

// URL returns path with the query.
func (q Query) URL(path string) string {
	if v := q.urlValues(); len(v) > 0 {
		return path + "?" + v.Encode()
	}
	return path
}

// formField is a hidden form field with a part of the query.
type formField struct{ name, value string }

func (q Query) hiddenFields() (list []formField) {
	v := q.urlValues()
	for _, name := range slices.Sorted(maps.Keys(v)) {
		list = append(list, formField{name, v.Get(name)})
	}
	return list
}

// urlValues returns the query as URL parameters, without default values.
func (q Query) urlValues() url.Values {
	v := url.Values{}
	set := func(name string, n, otherwise int) {
		if n != otherwise {
			v.Set(name, strconv.Itoa(n))
		}
	}
	set("case", q.Case, 0)
	set("kernel", q.Kernel, -1)
	set("page", q.MetricsPage, 1)
	set("code", q.CodePage, 1)
	set("pin", q.PinnedRun, 0)
	if q.MetricSearch != "" {
		v.Set("q", q.MetricSearch)
	}
	if q.SourceLine != "" {
		v.Set("at", q.SourceLine)
	}
	if q.SortBySamples {
		v.Set("sort", "hot")
	}
	if q.ShowPTX {
		v.Set("show", "ptx")
	}
	if q.Zoom.Level > 0 {
		v.Set("zoom", q.Zoom.queryText())
	}
	return v
}

func (q Query) withCase(c int) Query {
	return Query{Case: c, Kernel: -1, MetricsPage: 1, CodePage: 1, PinnedRun: q.PinnedRun}
}
func (q Query) withKernel(id int) Query {
	q.Kernel, q.MetricsPage, q.CodePage, q.SourceLine, q.Zoom = id, 1, 1, "", Zoom{}
	return q
}
func (q Query) withSearch(s string) Query        { q.MetricSearch, q.MetricsPage = s, 1; return q }
func (q Query) withPin(run int) Query            { q.PinnedRun = run; return q }
func (q Query) withMetricsPage(page int) Query   { q.MetricsPage = page; return q }
func (q Query) withCodePage(page int) Query      { q.CodePage = page; return q }
func (q Query) withSourceLine(line string) Query { q.SourceLine, q.CodePage = line, 1; return q }
func (q Query) withPTX(ptx bool) Query           { q.ShowPTX, q.CodePage = ptx, 1; return q }
func (q Query) withZoom(z Zoom) Query            { q.Zoom = z; return q }
func (q Query) withSortBySamples(hot bool) Query { q.SortBySamples, q.CodePage = hot, 1; return q }

// paging is one page of a long table.
type paging struct {
	pageNumber, pageCount int // from 1
	start, end            int // shown rows: indexes from start up to, but excluding, end
	rowCount              int
}

// newPaging limits wanted to the pages that exist.
func newPaging(wanted, total, size int) paging {
	pages := max(1, (total+size-1)/size)
	page := min(max(wanted, 1), pages)
	from := (page - 1) * size
	return paging{pageNumber: page, pageCount: pages, start: from, end: min(from+size, total), rowCount: total}
}

func (p paging) rangeText() string {
	return fmt.Sprintf("%s–%s of %s", format.Decimal(float64(p.start+1)), format.Decimal(float64(p.end)), format.Decimal(float64(p.rowCount)))
}
