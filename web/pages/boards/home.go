package boards

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/conns"
	"warpboard/web/site"
)

const homeLinesPerPage = 25 // lines on one page

// Home shows the list of tasks to people who have signed in, and to requests with a search (old links). Others get the
// front page.
func (p *Boards) Home(c *fiber.Ctx) error {
	if site.Viewer(c) == nil && c.Context().QueryArgs().Len() == 0 {
		return p.Front(c)
	}
	return p.Tasks(c)
}

// Tasks lists the tasks. For htmx it renders only the list.
func (p *Boards) Tasks(c *fiber.Ctx) error {
	search := views.TaskSearch{
		Text: strings.TrimSpace(c.Query("q")), Lang: c.Query("lang"), Device: c.Query("device"), Tag: c.Query("tag"), Show: c.Query("show"),
		Sort: c.Query("sort"), PageNo: site.PageNumber(c, "page"),
	}
	list, err := p.findTasks(c.UserContext(), site.Actor(c), search)
	if err != nil {
		return err
	}
	c.Vary("HX-Request")
	if site.WantsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.Tasks(list))
	}
	page := views.HomePage{Page: p.site.Page(c, "Tasks", "tasks"), List: list}
	page.HasStream = true
	page.LinkPreview = &views.LinkPreview{
		Title:    "Warpboard",
		URL:      p.site.Settings.BaseURL + "/tasks",
		ImageURL: p.site.PreviewImageURL(),
		FeedURL:  "/records.atom",
	}
	return p.site.Render(c, fiber.StatusOK, views.Home(page))
}

// findTasks lists tasks like listTasks and adds the latest activity of the viewer and of all boards.
func (p *Boards) findTasks(
	ctx context.Context, viewer accounts.User, search views.TaskSearch,
) (list views.TaskList, err error) {
	if list, err = p.listTasks(ctx, viewer, search); err != nil {
		return list, err
	}
	if list.SignedIn = viewer.SignedIn(); list.SignedIn {
		if err := p.addLatestActivity(ctx, viewer, &list); err != nil {
			return list, err
		}
	}
	return list, p.addLatestRecords(ctx, &list)
}

// listTasks reads short descriptions of all tasks, and the boards of the tasks on the requested page.
func (p *Boards) listTasks(
	ctx context.Context, viewer accounts.User, search views.TaskSearch,
) (list views.TaskList, err error) {
	all, err := p.site.Store.TaskList(ctx, viewer)
	if err != nil {
		return list, err
	}
	workers, err := p.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return list, err
	}
	f := taskFinder{
		handlers:      p,
		search:        search,
		easyFirst:     !viewer.SignedIn(),
		slotsByDevice: fleet.CountAllSlots(workers, p.site.Now()),
	}
	list.Search, list.Devices, list.Tags = search, f.devices(all), mostFrequentTags(all)
	found := slices.DeleteFunc(all, func(t models.TaskSummary) bool { return !f.matchesFilter(t) })
	slices.SortStableFunc(found, f.compare)
	lines := groupTasksIntoLines(found)
	list.Found, list.LastPage = len(found), (len(lines)+homeLinesPerPage-1)/homeLinesPerPage
	from := min((search.PageNo-1)*homeLinesPerPage, len(lines))
	lines = lines[from:min(from+homeLinesPerPage, len(lines))]
	found = slices.Concat(lines...)
	if err := p.site.Store.AddBoardSummaries(ctx, viewer, found); err != nil {
		return list, err
	}
	for _, line := range lines {
		list.Tasks = append(list.Tasks, f.lineCard(found[:len(line)]))
		found = found[len(line):]
	}
	return list, nil
}

// addLatestActivity sets the person's latest activity in the page.
func (p *Boards) addLatestActivity(ctx context.Context, viewer accounts.User, list *views.TaskList) error {
	last, err := p.site.Store.Submissions.LastSubmission(ctx, viewer)
	if db.KindOf(err) == db.NotFound {
		return nil
	}
	list.Continue = &views.Continue{
		Task:         views.TaskRef{Slug: last.TaskSlug, Title: last.TaskTitle},
		SubmissionID: last.ID,
		Live:         last.UnfinishedRuns,
	}
	return err
}

const recordsInTicker = 2

// addLatestRecords sets the latest records in the list.
func (p *Boards) addLatestRecords(ctx context.Context, list *views.TaskList) (err error) {
	list.Latest, err = p.site.Store.Boards.Records(ctx, boards.RecordFilter{Limit: recordsInTicker})
	return err
}

// taskFinder has the parameters of a search for tasks, and the devices that can run work now.
type taskFinder struct {
	handlers      *Boards
	search        views.TaskSearch
	slotsByDevice map[string]fleet.DeviceSlots
	easyFirst     bool // sort easier tasks before more active ones
}

func (f taskFinder) hasWorkingSlot(device string) bool {
	return f.slotsByDevice[device].AcceptingJobs > 0
}

// devices returns the devices of all tasks, those with a connected worker first.
func (f taskFinder) devices(all []models.TaskSummary) []views.DeviceChoice {
	var list []views.DeviceChoice
	for _, t := range all {
		for _, device := range t.Devices {
			if !slices.ContainsFunc(list, func(d views.DeviceChoice) bool { return d.Device == device }) {
				list = append(list, views.DeviceChoice{Device: device, Offline: !f.hasWorkingSlot(device)})
			}
		}
	}
	slices.SortFunc(list, func(a, b views.DeviceChoice) int {
		return cmp.Or(trueFirst(!a.Offline, !b.Offline), cmp.Compare(a.Device, b.Device))
	})
	return list
}

func (f taskFinder) matchesFilter(t models.TaskSummary) bool {
	s := f.search
	text := strings.ToLower(t.Title + " " + t.Slug + " " + t.ProblemName + " " + strings.Join(t.Tags, " "))
	for word := range strings.FieldsSeq(strings.ToLower(s.Text)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	device := s.Device == "" || slices.Contains(t.Devices, s.Device) ||
		s.Device == views.DeviceOnline && slices.ContainsFunc(t.Devices, f.hasWorkingSlot)
	show := s.Show == "" || s.Show == "mine" && t.HasOwnEntry || s.Show == "open" && t.AcceptsSubmissions(f.handlers.site.Now()) || s.Show == "closed" && !t.AcceptsSubmissions(f.handlers.site.Now())
	tag := s.Tag == "" || slices.Contains(t.Tags, s.Tag)
	return device && show && tag && (s.Lang == "" || s.Lang == string(t.Lang))
}

// compare compares two tasks for sorting. By default open tasks precede closed ones; then sooner deadlines, runnable
// tasks, and more activity come first. Equal tasks stay in the store's order: newest first, built-in tasks from easy to
// hard.
func (f taskFinder) compare(a, b models.TaskSummary) int {
	switch {
	case f.search.Sort == "people":
		return cmp.Compare(b.EntryCount, a.EntryCount)
	case f.search.Sort == "title":
		return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	case f.search.Sort == "easy":
		return cmp.Compare(tasks.DifficultyOfTags(a.Tags), tasks.DifficultyOfTags(b.Tags))
	case f.search.Sort == "new":
		return cmp.Compare(b.ID, a.ID)
	case a.AcceptsSubmissions(f.handlers.site.Now()) != b.AcceptsSubmissions(f.handlers.site.Now()):
		return trueFirst(a.AcceptsSubmissions(f.handlers.site.Now()), b.AcceptsSubmissions(f.handlers.site.Now()))
	case (a.Deadline == nil) != (b.Deadline == nil):
		return trueFirst(a.Deadline != nil, b.Deadline != nil)
	case a.Deadline != nil && a.AcceptsSubmissions(f.handlers.site.Now()):
		return a.Deadline.Compare(*b.Deadline)
	case a.Deadline != nil:
		return b.Deadline.Compare(*a.Deadline) // both are closed: the latest deadline first
	}
	easier := 0
	if f.easyFirst {
		easier = cmp.Compare(tasks.DifficultyOfTags(a.Tags), tasks.DifficultyOfTags(b.Tags))
	}
	return cmp.Or(trueFirst(slices.ContainsFunc(a.Devices, f.hasWorkingSlot), slices.ContainsFunc(b.Devices, f.hasWorkingSlot)), easier, cmp.Compare(b.EntryCount, a.EntryCount))
}

// trueFirst compares two booleans for sorting; true comes first.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (f taskFinder) taskCard(t models.TaskSummary) views.TaskCard {
	card := views.TaskCard{
		TaskRef: site.TaskLink(t.Task), Lang: views.LangName(t.Lang), Tags: t.Tags, Deadline: f.handlers.site.DeadlineOf(t.Task), People: int(t.EntryCount),
	}
	for _, b := range t.Boards {
		card.Boards = append(card.Boards, views.BoardChip{BoardSummary: b, Offline: !f.hasWorkingSlot(b.Device)})
	}
	slices.SortStableFunc(card.Boards, func(a, b views.BoardChip) int {
		return cmp.Or(trueFirst(a.PeopleCount > 0, b.PeopleCount > 0), trueFirst(!a.Offline, !b.Offline))
	})
	return card
}

// BoardsEvents notifies pages that show many boards when one of the boards changes.
func (p *Boards) BoardsEvents(c *fiber.Ctx) error {
	return p.site.Stream(c, conns.StreamSource{
		Topic:        site.BoardsTopic(),
		WriteBacklog: func(context.Context, *conns.Writer) error { return nil },
		WriteMessage: func(_ context.Context, _ conns.Message, out *conns.Writer) error {
			_, err := out.Write(conns.FormatEvent(0, "boards", nil))
			return err
		},
	})
}

// maxTags limits the tags in the filter of a task list, because each task may have different tags.
const maxTags = 60

// TasksWithTag lists the tasks with one tag, from easy to hard.
func (p *Boards) TasksWithTag(c *fiber.Ctx) error {
	search := views.TaskSearch{Tag: c.Params("tag"), Sort: "easy", PageNo: site.PageNumber(c, "page")}
	list, err := p.listTasks(c.UserContext(), site.Actor(c), search)
	if err != nil {
		return err
	}
	if list.Found == 0 {
		return site.NotFound(c)
	}
	return p.site.Render(c, fiber.StatusOK, views.Collection(views.CollectionPage{
		Page: p.site.Page(c, "Tasks: "+search.Tag, "tasks"),
		Tag:  search.Tag,
		List: list,
	}))
}

// mostFrequentTags returns the most frequent tags of the tasks, sorted by name, with the number of tasks of each.
func mostFrequentTags(list []models.TaskSummary) []views.TagCount {
	count := map[string]int{}
	for _, t := range list {
		for _, tag := range t.Tags {
			count[tag]++
		}
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	names = names[:min(len(names), maxTags)]
	slices.Sort(names)
	tags := make([]views.TagCount, len(names))
	for i, name := range names {
		tags[i] = views.TagCount{Name: name, Tasks: count[name]}
	}
	return tags
}

// taskLineKey is the key of tasks that share one line of the task list.
type taskLineKey struct {
	ownerID, deadlineUnixNS int64
	problemTitle            string
}

func taskLineKeyOf(t models.TaskSummary) taskLineKey {
	v := taskLineKey{ownerID: t.OwnerID, problemTitle: t.ProblemName}
	if t.Deadline != nil {
		v.deadlineUnixNS = t.Deadline.UnixNano()
	}
	return v
}

// groupTasksIntoLines groups a list of tasks into lines. A line has the tasks of one author with the same problem and
// the same deadline. It takes the position of its first task.
func groupTasksIntoLines(list []models.TaskSummary) (lines [][]models.TaskSummary) {
	at := map[taskLineKey]int{}
	for _, t := range list {
		v := taskLineKeyOf(t)
		if i, known := at[v]; known && t.ProblemName != "" {
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

// lineCard returns one line of the task list.
func (f taskFinder) lineCard(list []models.TaskSummary) views.TaskCard {
	card := f.taskCard(list[0])
	if len(list) == 1 {
		return card
	}
	for _, t := range list {
		card.Variants = append(card.Variants, f.taskCard(t))
	}
	return card
}
