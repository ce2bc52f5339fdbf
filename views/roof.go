package views

import (
	"slices"

	"warpboard/models/boards"
	"warpboard/views/format"
)

// hasRoofs reports whether an entry of the board has a distance to its device's peak.
func (b BoardTable) hasRoofs() bool {
	return slices.ContainsFunc(b.rows(), func(e boards.Standing) bool { return e.RooflineShare != nil })
}

func roofText(roof *float64) string {
	if roof == nil {
		return format.NotMeasured
	}
	return format.Percent(*roof)
}
