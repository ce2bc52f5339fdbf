package boards

import (
	"strings"

	"gorm.io/gorm"
)

// energyFirst is the second order of a board. It has no bands, because the error of an energy is unknown.
const energyFirst = "energy_j, run_id"

// energyOf keeps the entries of the board's newest epoch whose energy was measured.
func energyOf(entries *gorm.DB, b Board) *gorm.DB {
	return entries.Where("age = ? and energy_j is not null", -b.EpochID)
}

// ofEntries gives the columns of an order the name of a query's entries.
func ofEntries(order string) string { return "e." + strings.ReplaceAll(order, ", ", ", e.") }
