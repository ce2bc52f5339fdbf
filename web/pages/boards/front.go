package boards

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/internal/gpuname"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/fleet"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

const (
	recordsOnFrontPage        = 3  // number of records on the front page
	recordsSearchedForProfile = 24 // number of records to search for one with a profile
)

// Front shows the front page, with public data. For htmx it renders only the latest records.
func (p *Boards) Front(c *fiber.Ctx) error {
	records, err := p.site.Store.Boards.Records(c.UserContext(), boards.RecordFilter{Limit: recordsSearchedForProfile})
	if err != nil {
		return err
	}
	latest := records[:min(len(records), recordsOnFrontPage)]
	c.Vary("HX-Request", fiber.HeaderCookie)
	if site.WantsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.FrontRecords(latest))
	}
	page := views.FrontPage{
		Page:    p.site.Page(c, "GPU kernels, measured", ""),
		Latest:  latest,
		Attacks: p.attacks,
		SignIn:  len(p.signIn.Providers) > 0,
	}
	page.HasStream = true
	page.LinkPreview = &views.LinkPreview{
		Title:    "Warpboard",
		URL:      p.site.Settings.BaseURL + "/",
		ImageURL: p.site.PreviewImageURL(),
		FeedURL:  "/records.atom",
	}
	all, err := p.site.Store.TaskList(c.UserContext(), accounts.User{})
	if err != nil {
		return err
	}
	if err := p.addStarterTask(c.UserContext(), slices.Clone(all), &page); err != nil {
		return err
	}
	of, roof, drawn, err := p.runs.BoardRoofOf(c.UserContext(), records)
	if err != nil {
		return err
	}
	if drawn {
		page.NeedsChartStyle, page.Roof = true, &views.FrontRoof{Of: of, Roof: roof}
	} else if page.Board, err = p.largestBoard(c.UserContext(), all); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Front(page))
}

// largestBoard returns the board with the most entries among the boards of the task with the most entries, or nil.
func (p *Boards) largestBoard(ctx context.Context, all []models.TaskSummary) (*views.FrontBoard, error) {
	if len(all) == 0 {
		return nil, nil
	}
	task := []models.TaskSummary{slices.MaxFunc(all, func(a, b models.TaskSummary) int { return cmp.Compare(a.EntryCount, b.EntryCount) })}
	if err := p.site.Store.AddBoardSummaries(ctx, accounts.User{}, task); err != nil {
		return nil, err
	}
	board := slices.MaxFunc(task[0].Boards, func(a, b boards.BoardSummary) int {
		return cmp.Compare(a.PeopleCount,
			b.PeopleCount)
	})
	if board.PeopleCount == 0 {
		return nil, nil
	}
	return &views.FrontBoard{Task: site.TaskLink(task[0].Task), Board: views.BoardChip{BoardSummary: board}}, nil
}

// addStarterTask counts the open public tasks and selects one that new people should begin with. It must be runnable
// now, and solved by others or built in, so that a new task is not selected at once. Of those the easiest is selected,
// and of equally easy ones the one with the most entries.
func (p *Boards) addStarterTask(ctx context.Context, all []models.TaskSummary, page *views.FrontPage) error {
	workers, err := p.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return err
	}
	f := taskFinder{handlers: p, search: views.TaskSearch{Show: "open"},
		slotsByDevice: fleet.CountAllSlots(workers, p.site.Now())}
	page.OnlyCPU = f.hasWorkingSlot(gpuname.CPU) && !slices.ContainsFunc(slices.Collect(maps.Keys(f.slotsByDevice)), func(device string) bool { return device != gpuname.CPU && f.hasWorkingSlot(device) })
	all = slices.DeleteFunc(all, func(t models.TaskSummary) bool { return !f.matchesFilter(t) })
	page.Open = len(all)
	if len(all) == 0 {
		return nil
	}
	known := func(t models.TaskSummary) bool { return t.Origin != "" || t.EntryCount > 0 }
	first := slices.MinFunc(all, func(a, b models.TaskSummary) int {
		return cmp.Or(trueFirst(slices.ContainsFunc(a.Devices, f.hasWorkingSlot), slices.ContainsFunc(b.Devices, f.hasWorkingSlot)), trueFirst(known(a), known(b)),
			cmp.Compare(tasks.DifficultyOfTags(a.Tags), tasks.DifficultyOfTags(b.Tags)), cmp.Compare(b.EntryCount,
				a.EntryCount))
	})
	page.Try, page.Easy = site.TaskLink(first.Task), tasks.DifficultyOfTags(first.Tags) == 0
	return nil
}
