package charts

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crowd returns entries with almost the same position, in the middle and at the edges of the roofline.
func crowd() (others []RooflineDot) {
	for i := range 40 {
		near := 1 + float64(i%20)/50
		dot := RooflineDot{RunID: int64(i), Name: fmt.Sprintf("%d. %s", i+1,
			[]string{"ada", "grace hopper", "a name that goes on and on"}[i%3]), URL: "/1", Rate: 2e12 * near,
			Intensity: 40 * near * near}
		if i >= 20 {
			dot.Rate, dot.Intensity = 3e14*near, 500*float64(i-19)
		}
		others = append(others, dot)
	}
	return append(others, RooflineDot{RunID: 98, Name: "low", URL: "/2", Rate: 1e6, Intensity: 1e-4},
		RooflineDot{RunID: 99, Name: "high", URL: "/3", Rate: 1e21, Intensity: 1e8})
}

// eachView calls check for rooflines of many kernels and entries, as a wide and as a small drawing, without zoom and at
// each level of zoom around the selected kernel.
func eachView(t *testing.T, check func(name string, c *roofChart)) {
	t.Helper()
	for _, name := range []string{"cuda4", "tri"} {
		r := report(t, name)
		for i := range 12 {
			k := r.Kernels[i%2]
			k.ID = 100 + i
			r.Kernels = append(r.Kernels, k)
		}
		for n, others := range [][]RooflineDot{nil, crowd(), crowd()[:40]} {
			for _, f := range []drawingFrame{smallDrawingFrame(), wideDrawingFrame()} {
				whole := newRoofChart(r, &r.Kernels[1], nil, others, f, Zoom{})
				for level := range maxZoom + 1 {
					c := newRoofChart(r, &r.Kernels[1], nil, others, f, whole.zoom.atLevel(level))
					check(fmt.Sprintf("%s, crowd %d, %.0f wide, zoom %d", name, n, f.width, level), c)
				}
			}
		}
	}
}

func TestNamesOfACrowdedRooflineNeverCollide(t *testing.T) {
	eachView(t, func(name string, c *roofChart) {
		all := written(c)
		for a, l := range all {
			if l.text == "" {
				continue
			}
			if at := l.area(); at.x1 < c.left || at.x2 > c.right+4 || at.y1 < c.top-lineHeight || at.y2 > c.bottom {
				t.Errorf("%s: %q leaves the drawing", name, l.text)
			}
			for b := range a {
				if all[b].text != "" && l.area().overlaps(all[b].area()) {
					t.Errorf("%s: %q covers %q", name, l.text, all[b].text)
				}
			}
			for _, s := range c.slopes {
				if s.isDrawn() && slices.ContainsFunc(areasAlongLine(s.line, 1, 1), l.area().overlaps) {
					t.Errorf("%s: %q covers the roof of %s", name, l.text, s.memoryLevel)
				}
				for _, of := range s.labelAreas() {
					if l.area().overlaps(of) {
						t.Errorf("%s: %q covers the name of the roof of %s", name, l.text, s.memoryLevel)
					}
				}
			}
		}
	})
}

func TestTicksOfARooflineStandApartAtEveryZoom(t *testing.T) {
	eachView(t, func(name string, c *roofChart) {
		if len(c.xTicks) < 2 || len(c.yTicks) < 2 {
			t.Errorf("%s: %d and %d ticks", name, len(c.xTicks), len(c.yTicks))
		}
		for _, tick := range c.yTicks { // a longer text would cover the axis's name
			if len([]rune(tick.text)) > 5 && c.yMax < 21 { // a larger exponent needs a forged counter
				t.Errorf("%s: a tick reads %q", name, tick.text)
			}
		}
		for i := range len(c.xTicks) - 1 {
			a, b := c.xTicks[i], c.xTicks[i+1]
			if (chartLabel{x: a.exponent, text: a.text,
				textAnchor: a.textAnchor}).area().overlaps(chartLabel{x: b.exponent, text: b.text,
				textAnchor: b.textAnchor}.area()) {
				t.Errorf("%s: tick %s covers %s", name, a.text, b.text)
			}
		}
		for i := range len(c.yTicks) - 1 {
			if gap := c.yTicks[i].exponent - c.yTicks[i+1].exponent; gap < lineHeight {
				t.Errorf("%s: tick %s is %.0f below %s", name, c.yTicks[i].text, gap, c.yTicks[i+1].text)
			}
		}
	})
}

func TestACrowdedRooflineIsTheSameEachTime(t *testing.T) {
	r := report(t, "tri")
	draw := func() string {
		vm := detailsOf(r, 0)
		vm.OtherDots, vm.Query.Zoom = crowd(), Zoom{2, 500, 500}
		_, html := render(t, roofline(vm, &r.Kernels[0]))
		return html
	}
	if diff := cmp.Diff(draw(), draw()); diff != "" {
		t.Error(diff)
	}
}

func TestAZoomShowsTheChosenKernelAndDrawsNothingOutside(t *testing.T) {
	eachView(t, func(name string, c *roofChart) {
		chosen := 0
		for _, d := range c.dots {
			if d.isSelected {
				chosen++
			}
		}
		if chosen != 1 || c.dotsOutside < len(c.otherDots)-len(c.shownOtherDots()) ||
			c.zoom.Level == 0 && c.dotsOutside != 0 {
			t.Errorf("%s: %d chosen kernels, %d dots outside", name, chosen, c.dotsOutside)
		}
		inside := func(x, y float64) bool {
			return x >= c.left-1e-6 && x <= c.right+1e-6 && y >= c.top-1e-6 && y <= c.bottom+1e-6
		}
		for _, s := range c.slopes {
			if s.isDrawn() && (!inside(s.line.x1, s.line.y1) || !inside(s.line.x2, s.line.y2)) {
				t.Errorf("%s: the roof of %s leaves the drawing: %+v", name, s.memoryLevel, s.line)
			}
			// A roof that the zoom cuts off must keep its slope, because bandwidth is constant along the line.
			want := math.Atan2(-(c.bottom-c.top)/(c.yMax-c.yMin), (c.right-c.left)/(c.xMax-c.xMin)) * 180 / math.Pi
			if s.isDrawn() && math.Abs(s.angle-want) > 1e-6 {
				t.Errorf("%s: the roof of %s is turned by %v, want %v", name, s.memoryLevel, s.angle, want)
			}
		}
	})
}

func TestZoomStepsStayWithinTheRoofline(t *testing.T) {
	z := Zoom{MiddleX: 100, MiddleY: 900}.atLevel(2)
	if want := (Zoom{2, 125, 875}); z != want {
		t.Errorf("%+v, want %+v", z, want)
	}
	if got := z.movedBy(-1, 1); got != z {
		t.Errorf("it moves beyond the edge: %+v", got)
	}
	if got := z.movedBy(1, -1); got != (Zoom{2, 250, 750}) {
		t.Errorf("it moves to %+v", got)
	}
	for _, odd := range []string{"", "x", "1,2", "5,500,500", "-1,0,0", "99999999999999999999,1,1"} {
		if got := readZoom(odd); got != (Zoom{}) {
			t.Errorf("%q is %+v", odd, got)
		}
	}
	if got := readZoom("1,-5,2000"); got != (Zoom{1, 250, 750}) {
		t.Errorf("outside it is %+v", got)
	}
}

func TestZoomLinksKeepThePinAndTheCase(t *testing.T) {
	vm := detailsOf(report(t, "cuda4"), 1)
	vm.Query.Case, vm.Query.PinnedRun = 1, 17
	doc, _ := render(t, Details(vm))
	in := readQueryOf(t, doc.Find("#zoom-in").AttrOr("href", ""))
	if in.Zoom.Level != 1 || in.PinnedRun != 17 || in.Case != 1 || in.Kernel != 1 {
		t.Errorf("zooming in leads to %+v", in)
	}
	vm.Query = in
	doc, _ = render(t, Details(vm))
	if out := readQueryOf(t, doc.Find("#zoom-out").AttrOr("href", "")); out.Zoom != (Zoom{}) || out.PinnedRun != 17 {
		t.Errorf("zooming out leads to %+v", out)
	}
	if doc.Find(".pf-zoom a").Length() < 4 {
		t.Error("a zoom cannot be moved")
	}
	if other := readQueryOf(t, doc.Find(".pf-kernels a").First().AttrOr("href", "")); other.Zoom != (Zoom{}) ||
		other.PinnedRun != 17 {
		t.Errorf("another kernel is %+v", other)
	}
}

func readQueryOf(t *testing.T, address string) Query {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return ReadQuery(u.Query())
}
