package docs

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/fleet"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
)

const (
	maxFoundTasks          = 6   // offered tasks, each with its boards
	maxFoundPeople         = 6   // people whose names begin with the text
	maxOwnSubmissions      = 6   // matching submissions of the viewer
	maxSearchedSubmissions = 50  // number of the viewer's newest submissions to search
	maxFoundPages          = 6   // pages of the site
	maxFoundDocuments      = 6   // pages of the documentation and their headings
	maxSearchBytes         = 100 // bytes of a search
)

// searchResult is one result of the search.
type searchResult struct {
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	URL   string `json:"url"`

	Boards []views.PageLink `json:"-"` // boards of a task that have entries
}

func newResult(kind, title, note string, url templ.SafeURL) searchResult {
	return searchResult{Kind: kind, Title: title, Note: note, URL: string(url)}
}

// FindJSON responds with search results as JSON.
func (p *Docs) FindJSON(c *fiber.Ctx) error {
	found, err := p.findResults(c)
	if err != nil {
		return err
	}
	for i := range found {
		found[i].URL = string(p.site.BasePath) + found[i].URL
		found[i].Note = found[i].noteLine()
	}
	c.Set(fiber.HeaderCacheControl, "private, no-store")
	return c.JSON(found)
}

// Search shows search results as a page, for browsers without JavaScript.
func (p *Docs) Search(c *fiber.Ctx) error {
	found, err := p.findResults(c)
	if err != nil {
		return err
	}
	page := views.SearchPage{Page: p.site.Page(c, "Search", ""), Text: strings.TrimSpace(c.Query("q"))}
	for _, f := range found {
		page.Found = append(page.Found, views.Found(f))
	}
	return p.site.Render(c, fiber.StatusOK, views.Search(page))
}

// findResults returns the results for the words in ?q=. Without words it returns the viewer's latest submissions and
// the tasks.
func (p *Docs) findResults(c *fiber.Ctx) ([]searchResult, error) {
	text := strings.ToLower(strings.TrimSpace(c.Query("q")))
	if len(text) > maxSearchBytes {
		return nil, site.Invalid("q", "Search for at most %d bytes.", maxSearchBytes)
	}
	words, viewer := strings.Fields(strings.ReplaceAll(text, "#", " ")), site.Actor(c)
	found, err := p.submissionByNumber(c.UserContext(), viewer, submissionNumberIn(text))
	for _, more := range []func(context.Context, accounts.User, []string) ([]searchResult, error){p.taskResults, p.matchingOwnSubmissions, p.matchingPeople} {
		if err != nil {
			return nil, err
		}
		var list []searchResult
		list, err = more(c.UserContext(), viewer, words)
		found = append(found, list...)
	}
	if err != nil {
		return nil, err
	}
	found = slices.Concat(found, p.matchingPages(viewer, words), p.findInDocumentation(words))
	return exactMatchesFirst(withoutDuplicates(found), text), nil
}

// submissionNumberPattern matches a submission's number: the whole text, or after # anywhere in it.
var submissionNumberPattern = regexp.MustCompile(`^(\d+)$|#\s*(\d+)`)

// submissionNumberIn returns the number of a submission that a text contains, or 0.
func submissionNumberIn(text string) int64 {
	if m := submissionNumberPattern.FindStringSubmatch(text); m != nil {
		id, _ := strconv.ParseInt(m[1]+m[2], 10, 64) // 0 if the number is out of range
		return id
	}
	return 0
}

// withoutDuplicates removes repeated results.
func withoutDuplicates(found []searchResult) []searchResult {
	list := make([]searchResult, 0, len(found)) // not nil, which JSON would encode as null
	for _, p := range found {
		if !slices.ContainsFunc(list, func(q searchResult) bool { return q.URL == p.URL }) {
			list = append(list, p)
		}
	}
	return list
}

// exactMatchesFirst puts exact matches before partial ones.
func exactMatchesFirst(found []searchResult, text string) []searchResult {
	other := func(p searchResult) bool { return !strings.EqualFold(p.Title, text) }
	exact := slices.DeleteFunc(slices.Clone(found), other)
	return append(exact, slices.DeleteFunc(found, func(p searchResult) bool { return !other(p) })...)
}

// submissionByNumber returns the submission with a number, if the viewer may see it.
func (p *Docs) submissionByNumber(ctx context.Context, viewer accounts.User, id int64) ([]searchResult, error) {
	if id == 0 {
		return nil, nil
	}
	filed, err := p.site.Store.Submissions.Details(ctx, id)
	f, there := filed[id]
	if !there || !f.Task.VisibleTo(viewer) && f.UserID != viewer.ID || f.HiddenFrom(viewer) {
		return nil, err
	}
	return []searchResult{newResult("Submission", fmt.Sprintf("#%d by %s", id, f.User.Name), f.Task.Title, views.SubmissionURL(id))}, err
}

// matchingPages returns the pages of the site that match.
func (p *Docs) matchingPages(viewer accounts.User, words []string) (found []searchResult) {
	if len(words) == 0 {
		return nil
	}
	list := slices.Concat(views.HeaderPageLinks(), views.FooterPageLinks())
	if viewer.SignedIn() {
		list = append(list, views.OwnPageLinks(views.Viewer{MayCreateTasks: viewer.MayCreateTasks(),
			IsAdmin: viewer.IsAdmin()})...)
	}
	for _, known := range list {
		if len(found) < maxFoundPages && containsAll(known.Label+" "+known.SearchWords, words) {
			found = append(found, newResult("Page", known.Label, "", known.URL))
		}
	}
	return found
}

// containsAll reports whether a text contains every word.
func containsAll(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// noteLine returns the boards of a task and the note of the result, separated by commas.
func (p searchResult) noteLine() string {
	var parts []string
	for _, board := range p.Boards {
		parts = append(parts, board.Label)
	}
	if p.Note != "" {
		parts = append(parts, p.Note)
	}
	return strings.Join(parts, ", ")
}

// matchingOwnSubmissions returns the viewer's newest submissions whose number or task matches.
func (p *Docs) matchingOwnSubmissions(
	ctx context.Context, viewer accounts.User, words []string,
) (found []searchResult, err error) {
	if !viewer.SignedIn() {
		return nil, nil
	}
	list, err := p.site.Store.Submissions.Submissions(ctx, viewer, submissions.SubmissionFilter{
		UserID:           viewer.ID,
		Limit:            maxSearchedSubmissions,
		OnlyTableColumns: true,
	})
	for _, sub := range list {
		if len(found) < maxOwnSubmissions && containsAll(strconv.FormatInt(sub.ID, 10)+" submission "+sub.TaskTitle, words) {
			found = append(found, newResult("Yours", fmt.Sprintf("#%d", sub.ID), sub.TaskTitle,
				views.SubmissionURL(sub.ID)))
		}
	}
	return found, err
}

// matchingPeople returns the people whose names begin with the text.
func (p *Docs) matchingPeople(ctx context.Context, _ accounts.User, words []string) (found []searchResult, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	list, err := p.site.Store.Accounts.SearchByName(ctx, strings.Join(words, " "), maxFoundPeople)
	for _, user := range list {
		found = append(found, newResult("Person", user.Name, "", views.UserURL(user.ID)))
	}
	return found, err
}

// findInDocumentation returns the pages of the documentation whose title or content matches, then headings that match.
func (p *Docs) findInDocumentation(words []string) (found []searchResult) {
	if len(words) == 0 {
		return nil
	}
	for _, page := range p.PageLinks() {
		if containsAll(page.Title+" documentation "+page.About, words) {
			found = append(found, newResult("Docs", page.Title, page.About, page.URL))
		}
	}
	for _, page := range p.PageLinks() {
		for _, heading := range page.Headings {
			if containsAll(heading.Title+" "+page.Title, words) {
				found = append(found, newResult("Docs", heading.Title, page.Title, heading.URL))
			}
		}
	}
	return found[:min(len(found), maxFoundDocuments)]
}

// sortByKind sorts tasks before workbenches before boards. If the search names one of these kinds ("solve"), that kind
// comes first.
func sortByKind(found []searchResult, words []string) []searchResult {
	kinds := []string{"Task", "Solve", "Board"}
	slices.SortStableFunc(found, func(a, b searchResult) int {
		rank := func(p searchResult) int {
			if slices.Contains(words, strings.ToLower(p.Kind)) {
				return -1
			}
			return slices.Index(kinds, p.Kind)
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return found
}

// taskResults returns the tasks that match, or their workbenches if a word names these. Boards are separate results if
// a word is "board" or a device; otherwise each task lists its boards that have entries.
func (p *Docs) taskResults(ctx context.Context, viewer accounts.User, words []string) ([]searchResult, error) {
	offered, err := p.matchingTasks(ctx, viewer, words)
	if err != nil {
		return nil, err
	}
	versions := make([]int64, len(offered))
	for i, t := range offered {
		versions[i] = t.VersionID
	}
	entered, err := p.site.Store.Boards.ChangeNumbers(ctx, versions)
	var found []searchResult
	for _, t := range offered {
		if t.AcceptsSubmissions(p.site.Now()) && !containsAll(boardSearchText(t), words) {
			found = append(found, newResult("Solve", "Solve "+t.Title, "", views.WorkbenchURL(t.Slug)))
		} else {
			found = append(found, taskResult(t.Task, entered))
		}
		for _, device := range t.Devices {
			if !containsAll(t.Title+" "+t.Slug+" solve submit", words) && containsAll(t.Title+" "+t.Slug+" board "+device, words) {
				found = append(found, newResult("Board", t.Title+" on "+device, "", views.BoardURL(t.Slug, device)))
			}
		}
	}
	return sortByKind(found, words), err
}

// boardSearchText returns the text that the search for a task's boards matches against.
func boardSearchText(t models.TaskSummary) string {
	return t.Title + " " + t.Slug + " board " + strings.Join(t.Devices, " ")
}

// matchingTasks returns the tasks that match: those that can run now first, then by number of entries.
func (p *Docs) matchingTasks(ctx context.Context, viewer accounts.User, words []string) ([]models.TaskSummary, error) {
	all, err := p.site.Store.TaskList(ctx, viewer)
	if err != nil {
		return nil, err
	}
	workers, err := p.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return nil, err
	}
	slots := fleet.CountAllSlots(workers, p.site.Now())
	offline := func(t models.TaskSummary) int {
		if slices.ContainsFunc(t.Devices, func(device string) bool { return slots[device].AcceptingJobs > 0 }) {
			return 0
		}
		return 1
	}
	list := slices.DeleteFunc(all, func(t models.TaskSummary) bool { return !containsAll(boardSearchText(t)+" solve submit", words) })
	slices.SortStableFunc(list, func(a, b models.TaskSummary) int {
		return cmp.Or(cmp.Compare(offline(a), offline(b)), cmp.Compare(b.EntryCount, a.EntryCount))
	})
	return list[:min(len(list), maxFoundTasks)], nil
}

// taskResult returns the search result for a task with its boards that have entries. The note has the number of its
// other boards.
func taskResult(t catalog.Task, entered map[boards.BoardKey]int64) searchResult {
	p := newResult("Task", t.Title, "", views.TaskURL(t.Slug))
	for _, device := range t.Devices {
		if _, there := entered[boards.BoardKey{VersionID: t.VersionID, Device: device}]; there {
			p.Boards = append(p.Boards, views.PageLink{Label: device, URL: views.BoardURL(t.Slug, device)})
		}
	}
	if without := len(t.Devices) - len(p.Boards); without > 0 {
		p.Note = format.Plural(without, "board", "boards") + " without entries"
	}
	return p
}
