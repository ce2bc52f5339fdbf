// Package operation has the pages for those who operate the site, its devices, and its boards.
//
// Read operation.go (switches) with budgets.go, then devices.go, queue.go and workers.go (devices, their software and
// slots, their queues, and how workers join), health.go (one table of problems that may need an operator) and
// storage.go. review.go is the review of runs and the page to report one, people.go manages people and shows the audit
// log. rerun.go measures runs of a task again and runs its validation script, for its author and admins.
//
// models/accounts has the table of rights. These pages use it to decide which actions to offer, and the store checks it
// again. A refused form keeps its input, and a join token is shown once. Reruns change scores only when they are
// applied; viewing them changes nothing. A device's page omits runs of tasks that the viewer may not see, so two people
// may see different sums. Storage sums over all submissions and artifacts, so it is the one page here whose time grows
// with the site.
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

// Operation has the handlers of the pages for operators and moderators.
type Operation struct {
	site               *site.Site
	runs               *runs.Runs
	highlighter        *views.Highlighter
	queueHealth        func(context.Context) error // returns an error if the queue carries no jobs now
	usesOwnNATSCluster bool                        // workers connect to the operator's NATS cluster, not to the site
	activityCache      activityCache
}

// New returns the handlers of the pages for operators and moderators.
func New(
	site *site.Site, runs *runs.Runs, code *views.Highlighter, queue func(context.Context) error, ownCluster bool,
) *Operation {
	return &Operation{site: site, runs: runs, highlighter: code, queueHealth: queue, usesOwnNATSCluster: ownCluster}
}

// Controls shows the switches of the site, and the credentials and join tokens of workers.
func (p *Operation) Controls(c *fiber.Ctx) error { return p.showControls(c, fiber.StatusOK, nil) }

// showControls renders the page of controls. with, unless it is nil, adds a new credential, a new token, or an error to
// it.
func (p *Operation) showControls(c *fiber.Ctx, status int, with func(*views.OperatePage)) error {
	if !site.Actor(c).IsAdmin() {
		return site.Forbidden("admin", "This page is for admins.")
	}
	page := views.OperatePage{
		Page:    p.site.Page(c, "Controls", "moderation"),
		Now:     p.site.Now(),
		Connect: "--site " + p.site.Settings.BaseURL,
	}
	if p.usesOwnNATSCluster {
		page.Connect = "--nats-url tls://HOST:PORT"
	}
	if err := p.addSwitches(c, &page); err != nil {
		return err
	}
	if err := p.addBudgets(c, &page); err != nil {
		return err
	}
	var err error
	if page.Credentials, err = p.site.Store.Fleet.Credentials(c.UserContext()); err != nil {
		return err
	}
	if page.Tokens, err = p.site.Store.Fleet.JoinTokens(c.UserContext()); err != nil {
		return err
	}
	if with != nil {
		with(&page)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, status, views.Operate(page))
}

func (p *Operation) addSwitches(c *fiber.Ctx, page *views.OperatePage) (err error) {
	if page.Off, err = p.site.Store.Switches.OffParts(c.UserContext()); err != nil {
		return err
	}
	tasks, err := p.site.Store.Catalog.Tasks(c.UserContext(), site.Actor(c))
	page.Choices, page.Tasks = []string{switches.SubmissionsSwitch, switches.EvaluationsSwitch}, map[string]string{}
	for _, task := range tasks {
		page.Tasks[switches.TaskSwitchName(task.ID)] = task.Title
		if p.site.DeadlineOf(task).AcceptsSubmissions() {
			page.Choices = append(page.Choices, switches.TaskSwitchName(task.ID))
		}
	}
	if what := c.Query("switched"); what != "" {
		page.Notice = page.Switched(what)
	}
	return err
}

// SwitchOff switches off a part of the site, such as submissions or a task. The pages of that part show the reason.
func (p *Operation) SwitchOff(c *fiber.Ctx) error {
	what := c.FormValue("what")
	return p.redirectOrFail(c, switchedURL(what), p.site.Store.Switches.TurnOff(c.UserContext(), site.Actor(c), what, c.FormValue("why")))
}

// SwitchOn switches a part on again.
func (p *Operation) SwitchOn(c *fiber.Ctx) error {
	what := c.FormValue("what")
	return p.redirectOrFail(c, switchedURL(what), p.site.Store.Switches.TurnOn(c.UserContext(), site.Actor(c), what))
}

// switchedURL returns the URL of the page of controls, with a notice about a switch.
func switchedURL(what string) templ.SafeURL {
	return templ.SafeURL("/operate?switched=" + url.QueryEscape(what))
}

// redirectToControls redirects to the page of controls, or shows err on it.
func (p *Operation) redirectToControls(c *fiber.Ctx, err error) error {
	return p.redirectOrFail(c, "/operate", err)
}

func (p *Operation) redirectOrFail(c *fiber.Ctx, next templ.SafeURL, err error) error {
	switch kind := db.KindOf(err); {
	case kind == db.Invalid || kind == db.Conflict:
		refused := site.FailureFromError(err)
		return p.showControls(c, refused.Status, func(page *views.OperatePage) { page.Problem = refused.Message })
	case err != nil:
		return err
	}
	return site.Redirect(c, next)
}
