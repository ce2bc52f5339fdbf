package charts

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/ncutest"
	"warpboard/views/format"
)

// expected computes the number that an element's data-from attribute names: a metric, a formula, or the count of an
// opcode. It returns false for the numbers of rules, which another test checks.
func expected(t *testing.T, s *ncu.Source, raw rawPage, from string) (float64, bool) {
	t.Helper()
	if strings.HasPrefix(from, "rule:") {
		return 0, false
	}
	opcode, ok := strings.CutPrefix(from, "source:")
	if !ok {
		return raw.evaluate(t, from), true
	}
	if opcode == "others" {
		return 0, false
	}
	sum := 0.0
	for i, l := range s.Lines {
		fields := strings.Fields(l.Instruction)
		if strings.HasPrefix(fields[0], "@") {
			fields = fields[1:]
		}
		if name, _, _ := strings.Cut(fields[0], "."); name == opcode {
			sum += s.CounterOnLine(i, "Instructions Executed").Value
		}
	}
	return sum, true
}

func TestRawTableIsTheRawPage(t *testing.T) {
	r := report(t, "tri")
	rows := ncutest.PlainCSV(t, fixture(t, "tri", "raw"))
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for id := range r.Kernels {
		vm, seen := detailsOf(r, id), 0
		pages := newRawTable(&r.Kernels[id], vm.Query).pageCount
		for vm.Query.MetricsPage = 1; vm.Query.MetricsPage <= pages; vm.Query.MetricsPage++ {
			doc, _ := render(t, raw(vm, &r.Kernels[id]))
			doc.Find(".pf-raw tbody tr").Each(func(_ int, row *goquery.Selection) {
				seen++
				c := column[row.Find("th").Text()]
				want, unitName := rows[2+id][c], rows[1][c]
				if want == "" || want == "nan" || want == "no data" {
					want = "not measured"
				} else if m := ncu.NewMetric(want, ""); m.Measured { // ncu prints 12976.000000 and 1,291,120,815.14
					want = format.AllDigits(m.Value)
				}
				if got := strings.TrimSpace(row.Find("td").First().Text()); got != want ||
					row.Find("td").Last().Text() != unitName {
					t.Errorf("%s: %q, want %q %q", row.Find("th").Text(), got, want, unitName)
				}
			})
		}
		if seen != 2227 {
			t.Errorf("kernel %d shows %d metrics", id, seen)
		}
	}
}

func TestSourceViewIsTheSourcePage(t *testing.T) {
	r := report(t, "cuda4")
	k := &r.Kernels[1]
	rows := ncutest.PlainCSV(t, fixture(t, "cuda4", "source"))
	var page [][]string
	for i, row := range rows {
		if len(row) > 1 && row[0] == "Kernel Name" && row[1] == k.Name {
			page = rows[i+1:]
			break
		}
	}
	column := map[string]int{}
	for i, name := range page[0] {
		column[name] = i
	}
	// The view shows a branch target as the number of an instruction; ncu's source page shows its address.
	branch := regexp.MustCompile(`#\d+`)
	addressOf := func(number string) string { return page[int(mustFloat(t, number[1:]))][column["Address"]] }
	vm, line := detailsOf(r, 1), 0
	for vm.Query.CodePage = 1; line < len(k.Source.Lines); vm.Query.CodePage++ {
		doc, _ := render(t, source(vm, k, vm.instructionsPage(k)))
		doc.Find(".pf-code tbody tr").Each(func(_ int, s *goquery.Selection) {
			line++
			want := page[line]
			cells := s.Find("td")
			for i, name := range map[int]string{2: "# Samples", 5: "Instructions Executed",
				6: "Avg. Predicated-On Threads Executed"} {
				if got := mustFloat(t, digitsOf(cells.Eq(i).Text())); math.Abs(got-mustFloat(t,
					want[column[name]])) > 0.01 {
					t.Errorf("line %d %s: %v, want %s", line, name, got, want[column[name]])
				}
			}
			text := cells.Eq(3).Find("code").Text()
			if got := branch.ReplaceAllStringFunc(text, addressOf); got != want[1] ||
				cells.Eq(1).Text() != strconv.Itoa(line) {
				t.Errorf("line %d: %q, want %q", line, got, want[1])
			}
		})
	}
}

// messageOf returns the whole message of a rule, including the collapsed part.
func messageOf(s *goquery.Selection) string {
	return strings.Join(s.Find("p").Map(func(_ int, p *goquery.Selection) string { return p.Text() }), " ")
}

func TestRulesAreTheDetailsPages(t *testing.T) {
	r := report(t, "cuda4")
	doc, _ := render(t, Details(detailsOf(r, 1)))
	gains := map[string]bool{}
	messages := map[string]bool{}
	for _, row := range ncutest.PlainCSV(t, fixture(t, "cuda4", "details"))[1:] {
		if row[0] == "1" && len(row) == 20 && row[17] != "" {
			messages[correctSpacing(row[17])] = true
			gains[row[19]] = true
		}
	}
	list := doc.Find("#rules li")
	if list.Length() != len(messages) {
		t.Errorf("%d rules, want %d", list.Length(), len(messages))
	}
	list.Each(func(_ int, s *goquery.Selection) {
		if text := messageOf(s); !messages[text] {
			t.Errorf("unknown rule %q", text)
		}
		if gain, ok := s.Find("data").Attr("value"); ok && !gains[gain] {
			t.Errorf("no rule gains %s", gain)
		}
	})
}
