package views

import (
	"slices"

	"warpboard/models/boards"
	"warpboard/views/format"
)

// hasRoofs reports whether the roofline share (percentage of the device's peak) of an entry on the page is known.
func (b BoardTable) hasRoofs() bool {
	return slices.ContainsFunc(b.rows(), func(e boards.Standing) bool { return e.RooflineShare != nil })
}

func roofText(roof *float64) string {
	if roof == nil {
		return format.NotMeasured
	}
	return format.Percent(*roof)
}
