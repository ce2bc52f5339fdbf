package charts

import (
	"fmt"
	"math"

	"warpboard/evaluator/ncu"
)

// memoryChart has the shapes of the memory chart: levels from the registers at the top to DRAM.
type memoryChart struct {
	boxes  []memoryBox
	arrows []memoryArrow
}

type memoryBox struct {
	x, y, width, height float64
	level               ncu.MemoryLevel
}

type memoryArrow struct {
	x, y1, y2 float64 // the arrow is vertical, from y1 to its tip at y2
	width     float64
	isIdle    bool
	link      ncu.MemoryLink
}

// memoryBoxes returns a box for each memory level.
func memoryBoxes(levels []ncu.MemoryLevel) []memoryBox {
	plan := [][4]float64{
		ncu.LevelRegisters: {2, 2, 396, 34},
		ncu.LevelL1:        {2, 108, 196, 70},
		ncu.LevelShared:    {206, 108, 192, 70},
		ncu.LevelL2:        {2, 250, 396, 52},
		ncu.LevelDRAM:      {2, 374, 396, 34},
	}
	out := make([]memoryBox, len(levels))
	for i, level := range levels {
		out[i] = memoryBox{plan[i][0], plan[i][1], plan[i][2], plan[i][3], level}
	}
	return out
}

// arrowX returns the horizontal position of the arrow for a link between two levels. ok is false for local memory,
// which is only in the table.
func arrowX(l ncu.MemoryLink) (float64, bool) {
	switch fmt.Sprintf("%d>%d %s", l.FromLevel, l.ToLevel, l.Name) {
	case "1>0 Global loads":
		return 16, true
	case "0>1 Global stores":
		return 108, true
	case "2>0 Shared loads":
		return 220, true
	case "0>2 Shared stores":
		return 310, true
	case "3>1 Reads", "4>3 Reads":
		return 80, true
	case "1>3 Writes", "3>4 Writes":
		return 240, true
	}
	return 0, false
}

func newMemoryChart(p ncu.MemoryPath) memoryChart {
	c := memoryChart{boxes: memoryBoxes(p.Levels)}
	most := 0.0
	for _, l := range p.Links {
		if v, ok := l.Amount.Value.BaseValue(); ok && l.Amount.Value.BaseUnit() == "byte" {
			most = max(most, v)
		}
	}
	for _, l := range p.Links {
		if x, ok := arrowX(l); ok {
			c.arrows = append(c.arrows, newArrow(x, l, c.boxes[l.FromLevel], c.boxes[l.ToLevel], most))
		}
	}
	return c
}

func newArrow(x float64, l ncu.MemoryLink, from, to memoryBox, most float64) memoryArrow {
	const gap = 4
	a := memoryArrow{x: x, link: l, width: 2}
	if from.y < to.y {
		a.y1, a.y2 = from.y+from.height+gap, to.y-gap
	} else {
		a.y1, a.y2 = from.y-gap, to.y+to.height+gap
	}
	v, ok := l.Amount.Value.BaseValue()
	a.isIdle = !ok || v == 0
	if ok && most > 0 && l.Amount.Value.BaseUnit() == "byte" {
		a.width += 5 * math.Sqrt(clamp(v/most, 0, 1))
	}
	return a
}

// shaftEnd returns the end of the line, where the tip begins.
func (a memoryArrow) shaftEnd() float64 {
	if a.y2 > a.y1 {
		return a.y2 - 8
	}
	return a.y2 + 8
}

func (a memoryArrow) tipPath() string {
	half := a.width/2 + 3.5
	return fmt.Sprintf("%s,%s %s,%s %s,%s", coordinateText(a.x-half), coordinateText(a.shaftEnd()),
		coordinateText(a.x+half), coordinateText(a.shaftEnd()), coordinateText(a.x), coordinateText(a.y2))
}

// factY returns the vertical position of number i in a box: next to the name in a flat box, otherwise below it.
func (b memoryBox) factY(i int) float64 {
	if b.isWide() {
		return b.y + 21 + 19*float64(i)
	}
	return b.y + 39 + 19*float64(i)
}

// isWide reports whether a box has space for numbers next to its name.
func (b memoryBox) isWide() bool { return b.width > 300 }

func (b memoryBox) factX() float64 {
	if b.isWide() {
		return b.x + b.width - 10
	}
	return b.x + 10
}

func (b memoryBox) textAnchor() string {
	if b.isWide() {
		return "end"
	}
	return "start"
}

// name returns the label of the arrow. Next to the box of shared memory it omits the word "Shared".
func (a memoryArrow) name() string {
	switch a.link.Name {
	case "Shared loads":
		return "Loads"
	case "Shared stores":
		return "Stores"
	}
	return a.link.Name
}

func (a memoryArrow) middleX() float64 { return (a.y1 + a.y2) / 2 }

// memoryFacts returns the numbers below the memory chart.
func memoryFacts(p ncu.MemoryPath) []ncu.Fact {
	var out []ncu.Fact
	for _, l := range p.Links {
		between := p.LinkLabel(l)
		amount := l.Amount
		amount.Label = between
		out = append(out, amount)
		if l.Rate.Origin != "" {
			rate := l.Rate
			rate.Label = between + ", per second"
			out = append(out, rate)
		}
	}
	for _, level := range p.Levels {
		for _, f := range level.Facts {
			f.Label = level.Name + ": " + f.Label
			out = append(out, f)
		}
	}
	return out
}
