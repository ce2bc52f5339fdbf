package palette

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/site"
)

const (
	mostTasks  = 6   // that are offered, each with its boards
	mostPeople = 6   // whose names begin so
	mostOwn    = 6   // submissions of the asker that fit
	ownLooked  = 50  // the newest of them, among which they are looked for
	mostPlaces = 6   // pages of the site
	mostDocs   = 6   // pages of the documentation and their headings
	mostText   = 100 // bytes of a search
)

// Palette has the handler of the search of every page.
type Palette struct {
	site *site.Site
	docs []views.DocsLink
}

// New returns the handler of the search, which also finds these pages of the documentation and their headings.
func New(site *site.Site, docs []views.DocsLink) *Palette { return &Palette{site, docs} }

// place is one thing to go to.
type place struct {
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	URL   string `json:"url"`
}

// Find answers a script with the places that the search finds.
func (p *Palette) Find(c *fiber.Ctx) error {
	found, err := p.found(c)
	if err != nil {
		return err
	}
	for i := range found {
		found[i].URL = string(p.site.Mount) + found[i].URL
	}
	c.Set(fiber.HeaderCacheControl, "private, no-store")
	return c.JSON(found)
}

// Search is the page of the same search, which needs no script.
func (p *Palette) Search(c *fiber.Ctx) error {
	found, err := p.found(c)
	if err != nil {
		return err
	}
	page := views.SearchPage{Page: p.site.Page(c, "Search", ""), Text: strings.TrimSpace(c.Query("q"))}
	for _, f := range found {
		page.Found = append(page.Found, views.Found(f))
	}
	return p.site.Render(c, fiber.StatusOK, views.Search(page))
}

// found are the places that fit the words in ?q=; without words, the tasks and the asker's last submissions.
func (p *Palette) found(c *fiber.Ctx) ([]place, error) {
	text := strings.ToLower(strings.TrimSpace(c.Query("q")))
	if len(text) > mostText {
		return nil, site.Invalid("q", "Search for at most %d bytes.", mostText)
	}
	words, viewer := strings.Fields(strings.ReplaceAll(text, "#", " ")), site.Actor(c)
	found, err := p.numbered(c.UserContext(), viewer, numberIn(text))
	for _, more := range []func(context.Context, accounts.User, []string) ([]place, error){p.tasks, p.own, p.people} {
		if err != nil {
			return nil, err
		}
		var list []place
		list, err = more(c.UserContext(), viewer, words)
		found = append(found, list...)
	}
	if err != nil {
		return nil, err
	}
	found = slices.Concat(found, p.pages(viewer, words), p.manual(words))
	return exactFirst(distinct(found), text), nil
}

// number is one of a submission: alone, or after # anywhere in a text.
var number = regexp.MustCompile(`^(\d+)$|#\s*(\d+)`)

// numberIn is the number of a submission that a text names; 0: none.
func numberIn(text string) int64 {
	if m := number.FindStringSubmatch(text); m != nil {
		id, _ := strconv.ParseInt(m[1]+m[2], 10, 64) // one that is too large is none
		return id
	}
	return 0
}

// distinct are the places without those that were found before.
func distinct(found []place) []place {
	list := make([]place, 0, len(found)) // never null
	for _, p := range found {
		if !slices.ContainsFunc(list, func(q place) bool { return q.URL == p.URL }) {
			list = append(list, p)
		}
	}
	return list
}

// exactFirst puts what is called just as the text before all that has it as a part.
func exactFirst(found []place, text string) []place {
	other := func(p place) bool { return !strings.EqualFold(p.Title, text) }
	exact := slices.DeleteFunc(slices.Clone(found), other)
	return append(exact, slices.DeleteFunc(found, func(p place) bool { return !other(p) })...)
}

// numbered is the submission of that number, if the viewer may see it.
func (p *Palette) numbered(ctx context.Context, viewer accounts.User, id int64) ([]place, error) {
	if id == 0 {
		return nil, nil
	}
	filed, err := p.site.Store.Submissions.Filed(ctx, id)
	f, there := filed[id]
	if !there || !f.Task.VisibleTo(viewer) && f.UserID != viewer.ID || f.HiddenFrom(viewer) {
		return nil, err
	}
	return []place{{"Submission", fmt.Sprintf("#%d by %s", id, f.User.Name), f.Task.Title, string(views.SubmissionURL(id))}}, err
}

// pages are the pages of the site that fit.
func (p *Palette) pages(viewer accounts.User, words []string) (found []place) {
	if len(words) == 0 {
		return nil
	}
	list := slices.Concat(views.MainPlaces(), views.MorePlaces())
	if viewer.SignedIn() {
		list = append(list, views.OwnPlaces(views.Viewer{Creator: viewer.MayCreate(), Admin: viewer.IsAdmin()})...)
	}
	for _, known := range list {
		if len(found) < mostPlaces && fits(known.Label+" "+known.Words, words) {
			found = append(found, place{"Page", known.Label, "", string(known.URL)})
		}
	}
	return found
}

// fits reports whether every word stands somewhere in a text.
func fits(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

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

// tasks are those that fit; once something was typed, with where to solve them and their boards.
func (p *Palette) tasks(ctx context.Context, viewer accounts.User, words []string) ([]place, error) {
	all, err := p.site.Store.Catalog.Tasks(ctx, viewer)
	var found []place
	offered := 0
	for _, t := range all {
		if !fits(t.Title+" "+t.Slug+" solve submit board "+strings.Join(t.Devices, " "), words) || offered == mostTasks {
			continue
		}
		offered++
		found = append(found, place{"Task", t.Title, strings.Join(t.Devices, ", "), string(views.TaskURL(t.Slug))})
		if len(words) > 0 && t.Open(p.site.Now()) {
			found = append(found, place{"Solve", "Solve " + t.Title, "", string(views.SolveURL(t.Slug))})
		}
		for _, device := range t.Devices {
			if len(words) > 0 && fits(t.Title+" "+t.Slug+" board "+device, words) {
				found = append(found, place{"Board", t.Title + " on " + device, "", string(views.BoardURL(t.Slug, device))})
			}
		}
	}
	return inOrder(found, words), err
}

// own are the asker's newest submissions that fit, by number or task.
func (p *Palette) own(ctx context.Context, viewer accounts.User, words []string) (found []place, err error) {
	if !viewer.SignedIn() {
		return nil, nil
	}
	list, err := p.site.Store.Submissions.Submissions(ctx, viewer, submissions.SubmissionFilter{UserID: viewer.ID, Limit: ownLooked, Short: true})
	for _, sub := range list {
		if len(found) < mostOwn && fits(strconv.FormatInt(sub.ID, 10)+" submission "+sub.TaskTitle, words) {
			found = append(found, place{"Yours", fmt.Sprintf("#%d", sub.ID), sub.TaskTitle, string(views.SubmissionURL(sub.ID))})
		}
	}
	return found, err
}

// people are those whose names begin with what was typed.
func (p *Palette) people(ctx context.Context, _ accounts.User, words []string) (found []place, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	list, err := p.site.Store.Accounts.PeopleCalled(ctx, strings.Join(words, " "), mostPeople)
	for _, user := range list {
		found = append(found, place{"Person", user.Name, "", string(views.UserURL(user.ID))})
	}
	return found, err
}

// manual are the pages of the documentation that fit, by title or what they say, then headings that do.
func (p *Palette) manual(words []string) (found []place) {
	if len(words) == 0 {
		return nil
	}
	for _, page := range p.docs {
		if fits(page.Title+" documentation "+page.About, words) {
			found = append(found, place{"Docs", page.Title, page.About, string(page.URL)})
		}
	}
	for _, page := range p.docs {
		for _, heading := range page.Headings {
			if fits(heading.Title+" "+page.Title, words) {
				found = append(found, place{"Docs", heading.Title, page.Title, string(heading.URL)})
			}
		}
	}
	return found[:min(len(found), mostDocs)]
}
