package charts

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/views/format"

	"warpboard/evaluator/ncu/ncutest"
)

// rawPage is the raw page's cells of one kernel in base units, read by this test's own code.
type rawPage map[string]float64

// readRaw returns one rawPage per kernel.
func readRaw(t *testing.T, name string) []rawPage {
	t.Helper()
	rows := ncutest.PlainCSV(t, fixture(t, name, "raw"))
	var out []rawPage
	for _, row := range rows[2:] {
		p := rawPage{}
		for i, cell := range row {
			if v, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64); err == nil && !math.IsNaN(v) {
				p[rows[0][i]] = v * factor(rows[1][i])
			}
		}
		out = append(out, p)
	}
	return out
}

// factor returns the factor from a unit of ncu to its base unit. It is taken from ncu's manual, independently of the
// tested code.
func factor(unitName string) float64 {
	over, under, _ := strings.Cut(unitName, "/")
	known := map[string]float64{
		"us": 1e-6, "ns": 1e-9, "ms": 1e-3, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12,
		"Mhz": 1e6, "Ghz": 1e9,
	}
	f := 1.0
	if v, ok := known[over]; ok {
		f = v
	}
	if v, ok := known[under]; ok {
		f /= v
	}
	return f
}

// evaluate computes a formula such as "(a + b) × c ÷ d" from the metrics of the raw page.
func (p rawPage) evaluate(t *testing.T, formula string) float64 {
	t.Helper()
	tokens := strings.Fields(strings.NewReplacer("(", "( ", ")", " )", "32 byte", "32").Replace(formula))
	total, sum, inside := 1.0, 0.0, false
	operator := "×"
	apply := func(v float64) {
		if operator == "÷" {
			total /= v
		} else {
			total *= v
		}
	}
	for _, token := range tokens {
		switch token {
		case "(":
			sum, inside = 0, true
		case ")":
			inside = false
			apply(sum)
		case "×", "÷":
			operator = token
		case "+":
		default:
			v, ok := p[token]
			if n, err := strconv.ParseFloat(token, 64); err == nil {
				v, ok = n, true
			}
			if !ok {
				t.Errorf("%q is not on the raw page (in %q)", token, formula)
			}
			if inside {
				sum += v
			} else {
				apply(v)
			}
		}
	}
	return total
}

// digitsOf converts a displayed number to one that strconv parses: without spaces between thousands, and with a hyphen
// as the minus sign.
func digitsOf(text string) string { return strings.NewReplacer("\u202f", "", "−", "-").Replace(text) }

// shown parses a number as a page shows it, with its unit and decimal prefix.
func shown(t *testing.T, text string) float64 {
	t.Helper()
	text = strings.ReplaceAll(strings.TrimSpace(text), "\u00a0", " ")
	digits, unitName, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(digitsOf(digits), 64)
	if err != nil {
		t.Errorf("%q is no number", text)
	}
	switch unitName {
	case "%", "", "s", "B", "B/s", "FLOP/s", "FLOP/B", "warps", "warp", "blocks", "block", "cycles", "cycle",
		"wavefronts", "wavefront", "wavefronts/s":
		return v
	}
	for prefix, f := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "µ": 1e-6, "m": 1e-3,
		"n": 1e-9} {
		if strings.HasPrefix(unitName, prefix) {
			return v * f
		}
	}
	t.Errorf("%q has an unknown unit", text)
	return v
}

func TestEveryNumberIsTheRawPages(t *testing.T) {
	for _, name := range []string{"cuda4", "tri"} {
		r := report(t, name)
		raws := readRaw(t, name)
		for id := range r.Kernels {
			doc, _ := render(t, Details(detailsOf(r, id)))
			checked := map[string]int{}
			doc.Find(".pf-panel [data-from]").Each(func(_ int, s *goquery.Selection) {
				from, _ := s.Attr("data-from")
				want, ok := expected(t, r.Kernels[id].Source, raws[id], from)
				if !ok {
					return
				}
				checked[s.Closest(".pf-panel").AttrOr("id", "")]++
				value := s.AttrOr("value", s.AttrOr("data-value", ""))
				got, err := strconv.ParseFloat(value, 64)
				if err != nil || math.Abs(got-want) > 1e-9*math.Abs(want) {
					t.Errorf("%s kernel %d: %s is %q, the raw page says %v", name, id, from, value, want)
				}
				if seen := shown(t, s.Text()); math.Abs(seen-want) > 6e-3*math.Abs(want)+1e-300 {
					t.Errorf("%s kernel %d: %s reads %q, the raw page says %v", name, id, from, s.Text(), want)
				}
			})
			for _, panel := range []string{"sol", "roofline", "memory", "occupancy", "stalls", "mix", "scheduler",
				"launch"} {
				if checked[panel] < 5 {
					t.Errorf("%s kernel %d: only %d numbers of %s were checked", name, id, checked[panel], panel)
				}
			}
		}
	}
}

func TestNoChartNumberWithoutItsOrigin(t *testing.T) {
	r := report(t, "cuda4")
	doc, _ := render(t, Details(detailsOf(r, 1)))
	cells := doc.Find(".pf-columns .pf-bar-value, .pf-columns .pf-list dd, .pf-columns .pf-table td.pf-right").Not(
		"details:contains('Other entries') td")
	if cells.Length() < 100 {
		t.Fatalf("only %d cells", cells.Length())
	}
	cells.Each(func(_ int, s *goquery.Selection) {
		if s.Find("[data-from], .pf-none, .pf-word").Length() == 0 {
			t.Errorf("%q has no origin", s.Text())
		}
	})
}

func TestKernelListIsTheRawPages(t *testing.T) {
	r, raws := report(t, "cuda4"), readRaw(t, "cuda4")
	doc, _ := render(t, Details(detailsOf(r, -1)))
	total := 0.0
	for _, raw := range raws {
		total += raw["gpu__time_duration.sum"]
	}
	doc.Find(".pf-kernels tbody tr").Each(func(i int, row *goquery.Selection) {
		row.Find("[data-from]").Each(func(_ int, s *goquery.Selection) {
			want := raws[i][s.AttrOr("data-from", "")]
			if got := s.AttrOr("value", ""); format.ExactNumber(want) != got && math.Abs(mustFloat(t, got)-want) > 1e-12 {
				t.Errorf("kernel %d: %s, want %v", i, got, want)
			}
		})
		share := row.Find(".pf-share span").Text()
		if want := format.Percent(raws[i]["gpu__time_duration.sum"] / total); share != want {
			t.Errorf("kernel %d has %s of the time, want %s", i, share, want)
		}
	})
	if got := doc.Find(".pf-kernels .pf-chosen th").Text(); strings.TrimSpace(got) != "matmul_naive" {
		t.Errorf("the chosen kernel is %q, not the one that took the most time", got)
	}
}

func mustFloat(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Errorf("%q is no number", s)
	}
	return v
}
