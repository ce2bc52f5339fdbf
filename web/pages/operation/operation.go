package operation

import (
	"context"
	"net/url"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/models/switches"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Operation is the page.
type Operation struct {
	site       *site.Site
	runs       *runs.Runs
	queue      func(context.Context) error // why the queue carries no jobs now
	ownCluster bool                        // workers connect to the operator's NATS cluster, not to the site
}

// New returns the page.
func New(site *site.Site, runs *runs.Runs, queue func(context.Context) error, ownCluster bool) *Operation {
	return &Operation{site, runs, queue, ownCluster}
}

// Page shows what is off and which tokens let workers in.
func (o *Operation) Page(c *fiber.Ctx) error { return o.show(c, fiber.StatusOK, "", "") }

// show answers with the page, and with what was just made or refused.
func (o *Operation) show(c *fiber.Ctx, status int, token, problem string) error {
	if !site.Actor(c).IsAdmin() {
		return site.Forbidden("admin", "This page is for admins.")
	}
	page := views.OperatePage{Page: o.site.Page(c, "Controls", "moderation"), NewToken: token, Problem: problem, Now: o.site.Now(), Connect: "--site " + o.site.Settings.BaseURL}
	if o.ownCluster {
		page.Connect = "--nats-url tls://HOST:PORT"
	}
	if err := o.addSwitches(c, &page); err != nil {
		return err
	}
	if err := o.addBudgets(c, &page); err != nil {
		return err
	}
	var err error
	if page.Tokens, err = o.site.Store.Fleet.JoinTokens(c.UserContext()); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return o.site.Render(c, status, views.Operate(page))
}

func (o *Operation) addSwitches(c *fiber.Ctx, page *views.OperatePage) (err error) {
	if page.Off, err = o.site.Store.Switches.SwitchedOff(c.UserContext()); err != nil {
		return err
	}
	tasks, err := o.site.Store.Catalog.Tasks(c.UserContext(), site.Actor(c))
	page.Choices, page.Tasks = []string{switches.Submissions, switches.Evaluations}, map[string]string{}
	for _, task := range tasks {
		page.Tasks[switches.Task(task.ID)] = task.Title
		if o.site.DeadlineOf(task).Takes() {
			page.Choices = append(page.Choices, switches.Task(task.ID))
		}
	}
	if what := c.Query("switched"); what != "" {
		page.Notice = page.Switched(what)
	}
	return err
}

// Off keeps something off.
func (o *Operation) Off(c *fiber.Ctx) error {
	what := c.FormValue("what")
	return o.leadTo(c, switched(what), o.site.Store.Switches.SwitchOff(c.UserContext(), site.Actor(c), what, c.FormValue("why")))
}

// On lets it go on.
func (o *Operation) On(c *fiber.Ctx) error {
	what := c.FormValue("what")
	return o.leadTo(c, switched(what), o.site.Store.Switches.SwitchOn(c.UserContext(), site.Actor(c), what))
}

// switched is the page with a notice about a switch.
func switched(what string) templ.SafeURL {
	return templ.SafeURL("/operate?switched=" + url.QueryEscape(what))
}

// done leads back to the page, or shows on it what was wrong.
func (o *Operation) done(c *fiber.Ctx, err error) error { return o.leadTo(c, "/operate", err) }

func (o *Operation) leadTo(c *fiber.Ctx, next templ.SafeURL, err error) error {
	switch {
	case db.KindOf(err) == db.Invalid:
		refused := site.FailureOf(err)
		return o.show(c, refused.Status, "", refused.Message)
	case err != nil:
		return err
	}
	return site.Redirect(c, next)
}
