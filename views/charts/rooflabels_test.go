package charts

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/evaluator/ncu"
)

// written returns all labels of a roofline except those of its axes.
func written(c *roofChart) []chartLabel {
	var out []chartLabel
	for _, r := range c.ceilings {
		out = append(out, r.label)
	}
	for _, d := range c.dots {
		out = append(out, d.label)
	}
	for _, o := range c.otherDots {
		out = append(out, o.label)
	}
	for _, s := range c.slopes {
		out = append(out, s.dotLabel)
	}
	return out
}

func TestNoNameOnTheRooflineCoversAnother(t *testing.T) {
	reports := map[string]*ncu.Report{"cuda4": report(t, "cuda4"), "tri": report(t, "tri"), "one kernel often": {}}
	for i := range 16 {
		k := reports["tri"].Kernels[i%2]
		k.ID = i
		reports["one kernel often"].Kernels = append(reports["one kernel often"].Kernels, k)
	}
	others := []RooflineDot{{RunID: 1, Name: "1. ada", URL: "/1", Rate: 2e12, Intensity: 40},
		{RunID: 2, Name: "2. grace", URL: "/2", Rate: 2.01e12, Intensity: 41},
		{RunID: 3, Name: "3. a name that goes on and on", URL: "/3", Rate: 9e14, Intensity: 2000},
		{RunID: 4, Name: "4. linus", URL: "/4", Rate: 1e6, Intensity: 1e-4}}
	for name, r := range reports {
		for i := range r.Kernels {
			c := newRoofChart(r, &r.Kernels[i], nil, others, smallDrawingFrame(), Zoom{})
			all := written(c)
			for a := range all {
				for b := range a {
					if all[a].text != "" && all[b].text != "" && all[a].area().overlaps(all[b].area()) {
						t.Errorf("%s kernel %d: %q covers %q", name, i, all[a].text, all[b].text)
					}
				}
			}
			for _, s := range c.slopes {
				for _, of := range s.labelAreas() {
					for _, other := range all {
						if other.text != "" && other.area().overlaps(of) {
							t.Errorf("%s kernel %d: the name of the roof of %s covers %q", name, i, s.memoryLevel,
								other.text)
						}
					}
				}
			}
			// without other entries, because these may leave no free position
			for _, s := range newRoofChart(r, &r.Kernels[i], nil, nil, smallDrawingFrame(), Zoom{}).slopes {
				if s.label.text == "" {
					t.Errorf("%s kernel %d: the roof of %s has no name", name, i, s.memoryLevel)
				}
			}
			for _, d := range c.dots {
				if d.isSelected && d.label.text == "" {
					t.Errorf("%s kernel %d: the chosen kernel has no name", name, i)
				}
			}
		}
	}
}

// TestEveryRoofOfAPairHasAName checks that a roof that only one of the two runs has also shows the name of that run.
func TestEveryRoofOfAPairHasAName(t *testing.T) {
	cuda, tri := report(t, "cuda4"), report(t, "tri")
	for i := range cuda.Kernels {
		for k := range tri.Kernels {
			w := ncu.Explanation{KernelA: &cuda.Kernels[i], KernelB: &tri.Kernels[k]}
			c := newRoofPair("#12", "#15", w)
			if c == nil {
				continue
			}
			ofA, ofB := ncu.RooflineOf(w.KernelA), ncu.RooflineOf(w.KernelB)
			for _, r := range c.ceilings {
				kind := strings.TrimSuffix(strings.TrimSuffix(r.kind, " (#12)"), " (#15)")
				want := kind
				if !rooflineHasOperations(ofB, kind) {
					want += " (#12)"
				} else if !rooflineHasOperations(ofA, kind) {
					want += " (#15)"
				}
				if r.kind != want || r.label.text == "" {
					t.Errorf("kernels %d and %d: the roof of %s is named %q", i, k, r.kind, r.label.text)
				}
			}
			if text := pairClockNote(c, w); !strings.Contains(text, "Hz") {
				t.Errorf("kernels %d and %d: of the clocks it says %q", i, k, text)
			}
		}
	}
}

func TestNamesStandBesideTheirDots(t *testing.T) {
	// The names of these dots must not be at the right edge of the drawing, which is far from each dot.
	for _, d := range []RooflineDot{{RunID: 1, Name: "low", URL: "/1", Rate: 1.09e12, Intensity: 0.2},
		{RunID: 1, Name: "lower", URL: "/2", Rate: 1.01e9, Intensity: 0.1001},
		{RunID: 1, Name: "lowest", URL: "/3", Rate: 2e6, Intensity: 2e-4},
		{RunID: 1, Name: "high", URL: "/4", Rate: 9.9e14, Intensity: 300}} {
		r := report(t, "cuda4")
		c := newRoofChart(r, &r.Kernels[0], nil, []RooflineDot{d}, smallDrawingFrame(), Zoom{})
		for _, at := range []struct {
			x, y  float64
			label chartLabel
		}{{c.dots[0].x, c.dots[0].y, c.dots[0].label}, {c.otherDots[0].x, c.otherDots[0].y, c.otherDots[0].label}} {
			a := at.label.area()
			if at.label.text != "" && (a.x1 > at.x+15 || a.x2 < at.x-15 || a.y1 > at.y+55 || a.y2 < at.y-55) {
				t.Errorf("beside %s, a dot at %.0f, %.0f has its name at %+v", d.Name, at.x, at.y, at.label)
			}
			if at.y > c.bottom-5 || at.x < c.left+5 {
				t.Errorf("%s leaves no room below or beside the dot at %.0f, %.0f", d.Name, at.x, at.y)
			}
		}
	}
}

func TestEveryEntryOnTheRooflineIsInItsTable(t *testing.T) {
	vm := detailsOf(report(t, "tri"), 0)
	for i := range 8 {
		vm.OtherDots = append(vm.OtherDots, RooflineDot{RunID: int64(i), Name: fmt.Sprintf("%d. someone", i+3),
			URL: fmt.Sprintf("/runs/%d", i), Rate: 5e11, Intensity: 1})
	}
	doc, _ := render(t, Details(vm))
	if rows := doc.Find("#roofline details:contains('Other entries') tbody tr").Length(); rows != len(vm.OtherDots) {
		t.Errorf("%d of %d entries", rows, len(vm.OtherDots))
	}
}
