package site

import (
	"warpboard/models/budgets"
	"warpboard/views"
)

// BudgetOf is a budget as pages show it.
func BudgetOf(b budgets.Budget) views.Budget {
	return views.Budget{Seconds: b.Seconds, Used: b.Used, Left: b.Left(), Renews: b.Renews, Team: TeamBudgetOf(b.Team)}
}

// TeamBudgetOf is a team's budget as pages show it.
func TeamBudgetOf(t budgets.TeamBudget) views.TeamBudget {
	return views.TeamBudget{ID: t.ID, Name: t.Name, Members: t.Members, Names: t.Names, Seconds: t.Seconds, Used: t.Used, Left: t.Left()}
}
