package site

import (
	"warpboard/models"
	"warpboard/views"
)

// BudgetOf is a budget as pages show it.
func BudgetOf(b models.Budget) views.Budget {
	return views.Budget{Seconds: b.Seconds, Used: b.Used, Left: b.Left(), Renews: b.Renews}
}
