package charts

import (
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/evaluator/ncu"
)

func TestAPinnedRunIsATickOnEveryBar(t *testing.T) {
	cuda, tri := report(t, "cuda4"), report(t, "tri")
	vm := detailsOf(cuda, 1)
	vm.PinnedProfile = &PinView{Name: "#7 by grace", Report: cuda}
	doc, _ := render(t, Details(vm))
	bars, ticks := doc.Find(".pf-bar .pf-fill"), doc.Find(".pf-bar .pf-pin")
	if bars.Length() < 20 || ticks.Length() != bars.Length() {
		t.Fatalf("%d ticks on %d bars", ticks.Length(), bars.Length())
	}
	// The baseline is the same report, so each tick must be at the end of its bar.
	doc.Find(".pf-bar svg").Each(func(_ int, e *goquery.Selection) {
		width, _ := strconv.ParseFloat(e.Find(".pf-fill").AttrOr("width", ""), 64)
		x, _ := strconv.ParseFloat(e.Find(".pf-pin").AttrOr("x", ""), 64)
		if math.Abs(x-width) > 1 {
			t.Errorf("a bar of %v has its tick at %v", width, x)
		}
	})
	if text := doc.Find("[data-pinned]").Text(); text != "Ticks are #7 by grace: matmul_naive" {
		t.Errorf("it says %q", text)
	}
	vm.PinnedProfile.Report = tri
	doc, _ = render(t, Details(vm))
	if text := doc.Find("#sol .pf-was").First().Text(); !strings.HasPrefix(text, "pinned 90.4") {
		t.Errorf("the bar of compute says %q, the pinned kernel reached 90.4 %%", text)
	}
	if doc.Find("#stalls .pf-stack").Length() != 2 {
		t.Error("the warp states of the pinned kernel are not beside the others")
	}
}

func TestAPinnedKernelHasADotOnTheRoofline(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 1)
	doc, _ := render(t, Details(vm))
	if n := doc.Find("#roofline .pf-dot-pinned").Length(); n != 0 {
		t.Fatalf("%d dots without a pinned run", n)
	}
	vm.Query.PinnedRun, vm.PinnedProfile = 7, &PinView{Name: "#7 by grace", Report: report(t, "tri")}
	vm.OtherDots = []RooflineDot{{RunID: 7, Name: "1. grace", URL: "/r/7", Intensity: 20, Rate: 1e12},
		{RunID: 8, Name: "2. ada", URL: "/r/8", Intensity: 30, Rate: 1e12}}
	doc, _ = render(t, Details(vm))
	for _, drawing := range []string{".pf-wide", ".pf-narrow"} {
		found := doc.Find("#roofline " + drawing)
		if found.Find(".pf-dot-pinned").Length() != 1 || !strings.Contains(found.Text(), "#7 by grace") ||
			strings.Contains(found.Text(), "1. grace") {
			t.Errorf("%s: %q", drawing, found.Text())
		}
	}
	if text := doc.Find("#roofline .pf-key").Text(); !strings.Contains(text, "pinned kernel") {
		t.Errorf("the key says %q", text)
	}
}

func TestWarpStatesFillOneBar(t *testing.T) {
	cuda := report(t, "cuda4")
	for i := range cuda.Kernels {
		doc, _ := render(t, Details(detailsOf(cuda, i)))
		whole, at := 0.0, 0.0
		doc.Find("#stalls .pf-stack rect:not(.pf-track)").Each(func(_ int, e *goquery.Selection) {
			x, _ := strconv.ParseFloat(e.AttrOr("x", ""), 64)
			width, _ := strconv.ParseFloat(e.AttrOr("width", ""), 64)
			if math.Abs(x-at) > 0.5 {
				t.Errorf("kernel %d: a part begins at %v, the one before it ends at %v", i, x, at)
			}
			whole, at = whole+width, x+width
		})
		if whole < 92 || whole > 100.5 {
			t.Errorf("kernel %d: the parts fill %v %%", i, whole)
		}
	}
}

// TestTheRoofsOfTheCachesAreThoseOfNcu compares the computed share of the bandwidth of each cache with the percentage
// that ncu reports.
func TestTheRoofsOfTheCachesAreThoseOfNcu(t *testing.T) {
	for _, c := range []struct {
		report string
		kernel int
		counts map[string]string // name of ncu's percentage by memory level
	}{
		{"cuda4", 1, map[string]string{"L1": "l1tex__lsu_writeback_active_mem_lgds.sum.pct_of_peak_sustained_elapsed"}},
		{"cuda4", 0, map[string]string{"L2": "lts__lts2xbar_cycles_active.sum.pct_of_peak_sustained_elapsed",
			"L1": "l1tex__lsu_writeback_active_mem_lgds.sum.pct_of_peak_sustained_elapsed"}},
		// no L1: this kernel loads by TMA, which that counter omits
		{"tri", 0, map[string]string{"L2": "lts__lts2xbar_cycles_active.sum.pct_of_peak_sustained_elapsed"}},
	} {
		r := report(t, c.report)
		k := &r.Kernels[c.kernel]
		levels := map[string]ncu.CacheRoof{}
		for _, l := range ncu.RooflineOf(k).Caches {
			levels[l.Name] = l
		}
		if _, l1 := levels["L1"]; l1 != (c.counts["L1"] != "") {
			t.Errorf("%s %d: L1 is there: %v", c.report, c.kernel, l1)
		}
		for name, metric := range c.counts {
			l := levels[name]
			got, want := 100*l.Traffic.Value.Value/l.Peak.Value.Value, k.Metric(metric).Value
			if math.Abs(got-want) > 0.01*want {
				t.Errorf("%s %d: %s reaches %v %% of its roof, ncu says %v", c.report, c.kernel, name, got, want)
			}
		}
		doc, _ := render(t, Details(detailsOf(r, c.kernel)))
		if drawn := doc.Find("#roofline .pf-wide .pf-roof-cache").Length(); drawn != len(levels) {
			t.Errorf("%s %d: %d roofs of caches are drawn", c.report, c.kernel, drawn)
		}
	}
}

func TestTheRailLeadsToWhatIsThere(t *testing.T) {
	doc, _ := render(t, Details(detailsOf(report(t, "cuda4"), 1)))
	links := doc.Find(".pf-rail [data-section]")
	if links.Length() < 10 {
		t.Errorf("the rail has %d sections", links.Length())
	}
	links.Each(func(_ int, e *goquery.Selection) {
		if doc.Find(".pf-panel"+e.AttrOr("href", "")).Length() != 1 {
			t.Errorf("%s leads nowhere", e.Text())
		}
	})
	if doc.Find(".pf-rail a[aria-current]").Length() != 2 {
		t.Error("the chosen case and kernel are not marked")
	}
}

func TestThePinStaysWhereverThePageLeads(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 1)
	withLines(vm.Kernel(), 4)
	vm.Query.Case, vm.Query.PinnedRun, vm.Query.MetricSearch, vm.Query.SortBySamples, vm.PinChoices = 1, 17, "sm__", true,
		[]PinChoice{{17, "1. ada"}}
	doc, _ := render(t, Details(vm))
	links := 0
	doc.Find("a[href^='" + vm.PagePath + "?'], a[href='" + vm.PagePath + "']").Each(func(_ int, a *goquery.Selection) {
		links++
		if to := readQueryOf(t, a.AttrOr("href", "")); to.PinnedRun != 17 {
			t.Errorf("%q loses the pin: %s", strings.TrimSpace(a.Text()), a.AttrOr("href", ""))
		}
	})
	if links < 50 {
		t.Errorf("only %d links were looked at", links)
	}
	for form, want := range map[string]string{"#raw form": "case=1&kernel=1&pin=17&sort=hot",
		".pf-pins": "case=1&kernel=1&q=sm__&sort=hot"} {
		kept := url.Values{}
		doc.Find(form + " input[type=hidden]").Each(func(_ int,
			e *goquery.Selection) {
			kept.Set(e.AttrOr("name", ""), e.AttrOr("value", ""))
		})
		if kept.Encode() != want {
			t.Errorf("%s keeps %s, want %s", form, kept.Encode(), want)
		}
	}
}

func TestAPinnedKernelsWarpStatesHaveTheColoursOfTheLegend(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 1)
	vm.PinnedProfile = &PinView{Name: "#9 by ada", Report: report(t, "tri")}
	doc, _ := render(t, Details(vm))
	legend := map[string]string{}
	doc.Find("#stalls .pf-legend li").Each(func(_ int, row *goquery.Selection) {
		name := row.Find("span").First().Clone()
		name.Find("small").Remove()
		legend[strings.TrimSpace(name.Text())] = row.Find("rect").AttrOr("class", "")
	})
	doc.Find("#stalls .pf-stack").Last().Find("rect:has(title)").Each(func(_ int, part *goquery.Selection) {
		name := part.Text()[:strings.LastIndex(part.Text(), " ")]
		if want, listed := legend[name]; !listed || part.AttrOr("class", "") != want {
			t.Errorf("%s is drawn as %s; the legend has %q", name, part.AttrOr("class", ""), want)
		}
	})
	if len(legend) < 5 {
		t.Errorf("the legend: %v", legend)
	}
}

// TestNumbersOfAProfileHaveOneFormat checks that all numbers have three significant digits and thin spaces between
// thousands.
func TestNumbersOfAProfileHaveOneFormat(t *testing.T) {
	long, exact := regexp.MustCompile(`(^|[^.\d])\d{5,}`), regexp.MustCompile(`\b[1-9]\d*\.\d{3,}`)
	for _, name := range []string{"cuda4", "tri"} {
		r := report(t, name)
		for id := range r.Kernels {
			doc, _ := render(t, Details(detailsOf(r, id)))
			// omit texts by ncu, and raw metrics, which have all digits
			doc.Find("#source code, #rules p, .pf-signature, .pf-from, option, #raw td, .pf-cases, .pf-next span, .pf-where code").Remove()
			doc.Find(".pf *").Each(func(_ int, e *goquery.Selection) {
				if text := e.Text(); e.Children().Length() == 0 &&
					(long.MatchString(text) || exact.MatchString(text) && e.Closest("#roofline details").Length() > 0) {
					t.Errorf("%s kernel %d: %q", name, id, text)
				}
			})
		}
	}
}
