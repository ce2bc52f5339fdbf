package views

import (
	"slices"

	"warpboard/views/format"
)

// hasRoofs reports whether a row of the board says how near it is to its unit's roof.
func (b BoardTable) hasRoofs() bool {
	return slices.ContainsFunc(b.Entries, func(e BoardEntry) bool { return e.Roof != nil }) || b.Mine != nil && b.Mine.Roof != nil
}

func roofText(roof *float64) string {
	if roof == nil {
		return format.Nothing
	}
	return format.Percent(*roof)
}
