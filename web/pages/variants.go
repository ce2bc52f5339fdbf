package pages

import (
	"cmp"
	"slices"

	"warpboard/models"
	"warpboard/tasks"
	"warpboard/views"
)

// variant identifies the tasks that share a line of the list.
type variant struct {
	ownerID, deadline int64
	problem           string
}

func variantOf(t models.TaskSummary) variant {
	v := variant{ownerID: t.OwnerID, problem: t.Problem}
	if t.Deadline != nil {
		v.deadline = t.Deadline.UnixNano()
	}
	return v
}

// linesOf are the lines of a list of tasks. A line has the tasks of one author with one problem and one deadline, and stands
// where the first of them would.
func linesOf(list []models.TaskSummary) (lines [][]models.TaskSummary) {
	at := map[variant]int{}
	for _, t := range list {
		v := variantOf(t)
		if i, known := at[v]; known && t.Problem != "" {
			lines[i] = append(lines[i], t)
			continue
		}
		at[v] = len(lines)
		lines = append(lines, []models.TaskSummary{t})
	}
	for _, line := range lines {
		slices.SortStableFunc(line, func(a, b models.TaskSummary) int {
			return cmp.Or(cmp.Compare(languageOrder(a.Lang), languageOrder(b.Lang)), cmp.Compare(a.Title, b.Title))
		})
	}
	return lines
}

func languageOrder(lang tasks.Lang) int {
	return slices.Index([]tasks.Lang{tasks.LangCPP, tasks.LangCUDA, tasks.LangPython}, lang)
}

// line shows the tasks of a line.
func (f taskFinder) line(list []models.TaskSummary) views.TaskCard {
	card := f.card(list[0])
	if len(list) == 1 {
		return card
	}
	for _, t := range list {
		card.Variants = append(card.Variants, f.card(t))
	}
	return card
}
