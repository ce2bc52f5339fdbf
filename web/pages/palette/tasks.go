package palette

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/fleet"
	"warpboard/views"
	"warpboard/views/format"
)

// inOrder puts tasks before where to solve them, and those before boards; but first what was asked for by its kind, as "solve".
func inOrder(found []place, words []string) []place {
	kinds := []string{"Task", "Solve", "Board"}
	slices.SortStableFunc(found, func(a, b place) int {
		rank := func(p place) int {
			if slices.Contains(words, strings.ToLower(p.Kind)) {
				return -1
			}
			return slices.Index(kinds, p.Kind)
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return found
}

// tasks are those that fit, or where to solve them if a word asks for that. A board is a place of its own where a word asks
// for boards or for its device; otherwise the task names those that have entries.
func (p *Palette) tasks(ctx context.Context, viewer accounts.User, words []string) ([]place, error) {
	offered, err := p.offered(ctx, viewer, words)
	if err != nil {
		return nil, err
	}
	versions := make([]int64, len(offered))
	for i, t := range offered {
		versions[i] = t.VersionID
	}
	entered, err := p.site.Store.Boards.ChangeNumbers(ctx, versions)
	var found []place
	for _, t := range offered {
		if t.Open(p.site.Now()) && !fits(boardWords(t), words) {
			found = append(found, to("Solve", "Solve "+t.Title, "", views.SolveURL(t.Slug)))
		} else {
			found = append(found, taskPlace(t.Task, entered))
		}
		for _, device := range t.Devices {
			if !fits(t.Title+" "+t.Slug+" solve submit", words) && fits(t.Title+" "+t.Slug+" board "+device, words) {
				found = append(found, to("Board", t.Title+" on "+device, "", views.BoardURL(t.Slug, device)))
			}
		}
	}
	return inOrder(found, words), err
}

// boardWords are what finds a task and its boards.
func boardWords(t models.TaskSummary) string {
	return t.Title + " " + t.Slug + " board " + strings.Join(t.Devices, " ")
}

// offered are the tasks that fit: first those that can run now, and of these the ones with the most entries.
func (p *Palette) offered(ctx context.Context, viewer accounts.User, words []string) ([]models.TaskSummary, error) {
	all, err := p.site.Store.TaskList(ctx, viewer)
	if err != nil {
		return nil, err
	}
	workers, err := p.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return nil, err
	}
	slots := fleet.AllSlots(workers, p.site.Now())
	offline := func(t models.TaskSummary) int {
		if slices.ContainsFunc(t.Devices, func(device string) bool { return slots[device].Usable > 0 }) {
			return 0
		}
		return 1
	}
	list := slices.DeleteFunc(all, func(t models.TaskSummary) bool { return !fits(boardWords(t)+" solve submit", words) })
	slices.SortStableFunc(list, func(a, b models.TaskSummary) int {
		return cmp.Or(cmp.Compare(offline(a), offline(b)), cmp.Compare(b.People, a.People))
	})
	return list[:min(len(list), mostTasks)], nil
}

// taskPlace is a task with the boards that have entries; of the others the note says how many they are.
func taskPlace(t catalog.Task, entered map[boards.Key]int64) place {
	p := to("Task", t.Title, "", views.TaskURL(t.Slug))
	for _, device := range t.Devices {
		if _, there := entered[boards.Key{VersionID: t.VersionID, Device: device}]; there {
			p.Boards = append(p.Boards, views.Place{Label: device, URL: views.BoardURL(t.Slug, device)})
		}
	}
	if without := len(t.Devices) - len(p.Boards); without > 0 {
		p.Note = format.Plural(without, "board", "boards") + " without entries"
	}
	return p
}
