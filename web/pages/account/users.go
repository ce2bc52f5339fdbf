package account

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/submissions"
	"warpboard/views"
	"warpboard/web/site"
)

// User shows a person's public page. It makes seven queries, and one more for a signed-in viewer: the person first,
// then the others concurrently.
func (p *Account) User(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	user, err := p.site.Store.Accounts.User(c.UserContext(), id)
	if err != nil {
		return err
	}
	page := views.UserPage{
		Page: p.site.Page(c, user.Name, "leaderboards"), Person: site.PersonLink(user.ID, user.Name), Role: string(user.Role), Since: user.CreatedAt,
		Blocked: user.BlockedAt != nil, MayManage: site.Actor(c).IsAdmin() && site.Actor(c).ID != user.ID,
	}
	if err := p.addActivity(c, &page); err != nil {
		return err
	}
	address := string(views.UserURL(user.ID))
	page.LinkPreview = &views.LinkPreview{
		Title:       user.Name,
		Description: "Kernels and places on leaderboards of " + user.Name + ".",
		URL:         p.site.Settings.BaseURL + address,
		ImageURL:    p.site.PreviewImageURL(),
		FeedURL:     address + "/records.atom",
	}
	return p.site.Render(c, fiber.StatusOK, views.User(page))
}

// addActivity sets the person's activity in the page, without parts that the viewer may not see.
func (p *Account) addActivity(c *fiber.Ctx, page *views.UserPage) error {
	ctx, viewer, id, places := c.UserContext(), site.Actor(c), page.Person.ID, site.PageNumber(c, "places")
	page.All = viewer.ID == id || viewer.IsAdmin()
	filter := submissions.SubmissionFilter{
		UserID:     id,
		OnlyRanked: !page.All,
		BeforeID:   int64(c.QueryInt("before")),
		Limit:      submissionsPerPage,
	}
	page.Activity.Until = p.site.Now()
	err := site.RunParallel(
		func() error { return p.addEntries(ctx, viewer, places, page) },
		func() (err error) { page.Points, err = p.site.Store.Boards.TotalsOf(ctx, id); return err },
		func() (err error) { page.Submissions, err = p.runs.SubmissionRows(ctx, viewer, filter); return err },
		func() (err error) {
			page.Activity.Days, err = p.site.Store.Submissions.CountByDay(ctx, viewer, id, page.Activity.Until.AddDate(0, 0, -7*views.ActivityWeeks))
			return err
		},
	)
	if n := len(page.Submissions); n == submissionsPerPage {
		page.Older = page.Submissions[n-1].ID
	}
	return err
}

// entriesPerPage is the number of boards on one page of a person's list.
const entriesPerPage = 25

// addEntries sets one page of the person's entries, on current boards that the viewer may see.
func (p *Account) addEntries(ctx context.Context, viewer accounts.User, number int, page *views.UserPage) error {
	list, more, err := p.site.Store.Boards.PersonEntries(ctx, viewer, page.Person.ID, (number-1)*entriesPerPage, entriesPerPage)
	if more {
		page.MorePlaces = number + 1
	}
	if err != nil {
		return err
	}
	keys := make([]boards.BoardKey, len(list))
	for i, place := range list {
		keys[i] = boards.BoardKey{VersionID: place.VersionID, Device: place.Device}
	}
	steps, err := p.site.Store.Boards.PersonBestScores(ctx, page.Person.ID, keys, maxProgressScores)
	for i, place := range list {
		page.Places = append(page.Places, views.PlaceRow{EntrySummary: place, Steps: steps[keys[i]]})
	}
	return err
}

// maxProgressScores limits the total number of scores in the progress charts on one page of a person's boards.
const maxProgressScores = 1000

// UserRole changes a person's role. Only admins may do that.
func (p *Account) UserRole(c *fiber.Ctx) error {
	return p.manageUser(c, func(ctx context.Context, admin accounts.User, id int64) error {
		return p.site.Store.Accounts.SetRole(ctx, admin, id, accounts.Role(c.FormValue("role")))
	})
}

// UserBlock blocks or unblocks a person. Only admins may do that.
func (p *Account) UserBlock(c *fiber.Ctx) error {
	return p.manageUser(c, func(ctx context.Context, admin accounts.User, id int64) error {
		return p.site.Store.Accounts.SetBlocked(ctx, admin, id, c.FormValue("blocked") == "1")
	})
}

func (p *Account) manageUser(
	c *fiber.Ctx, change func(ctx context.Context, admin accounts.User, id int64) error,
) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	if err := change(c.UserContext(), site.Actor(c), id); err != nil {
		return err
	}
	return site.Redirect(c, views.UserURL(id)+"?done=saved")
}
