package webhooks

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/webhooks"
	"warpboard/views"
	"warpboard/web/site"
)

// deliveries on one page.
const deliveries = 25

// Hooks is the pages.
type Hooks struct{ site *site.Site }

// New returns the pages.
func New(site *site.Site) *Hooks { return &Hooks{site} }

// List shows a person's webhooks, and to admins the site's.
func (h *Hooks) List(c *fiber.Ctx) error { return h.show(c, fiber.StatusOK, "", "") }

func (h *Hooks) show(c *fiber.Ctx, status int, secret, problem string) (err error) {
	page := views.WebhooksPage{Page: h.site.Page(c, "Webhooks", "me"), NewSecret: secret, Problem: problem}
	if page.Mine, err = h.list(c, webhooks.Personal(), false); err != nil {
		return err
	}
	if site.Actor(c).IsAdmin() {
		if page.Site, err = h.list(c, webhooks.OfSite(), true); err != nil {
			return err
		}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return h.site.Render(c, status, views.Webhooks(page))
}

func (h *Hooks) list(c *fiber.Ctx, kinds []webhooks.Kind, ofSite bool) (views.WebhookList, error) {
	hooks, err := h.site.Store.Webhooks.Webhooks(c.UserContext(), site.Actor(c), ofSite)
	return views.WebhookList{Rows: hooks, Kinds: kinds}, err
}

// Create makes a webhook and shows its secret this one time.
func (h *Hooks) Create(c *fiber.Ctx) error {
	user := site.Actor(c)
	n := webhooks.NewWebhook{Site: c.FormValue("of") == "site", URL: c.FormValue("url")}
	if minutes, err := strconv.Atoi(c.FormValue("wait", "30")); err == nil {
		n.Wait = time.Duration(min(minutes, 1<<20)) * time.Minute
	}
	for _, kind := range c.Context().PostArgs().PeekMulti("events") {
		n.Events = append(n.Events, webhooks.Kind(kind))
	}
	hook, err := h.site.Store.Webhooks.CreateWebhook(c.UserContext(), user, n)
	if kind := db.KindOf(err); kind == db.Invalid || kind == db.Conflict {
		refused := site.FailureOf(err)
		return h.show(c, refused.Status, "", refused.Message)
	}
	if err != nil {
		return err
	}
	return h.show(c, fiber.StatusOK, hook.Secret, "")
}

// Show is one webhook with its log.
func (h *Hooks) Show(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	hook, err := h.site.Store.Webhooks.Webhook(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	list, err := h.site.Store.Webhooks.WebhookDeliveries(c.UserContext(), site.Actor(c), id, int64(c.QueryInt("before")), deliveries)
	if err != nil {
		return err
	}
	page := views.WebhookPage{Page: h.site.Page(c, "Webhook", "me"), Of: hook, Deliveries: list, Now: h.site.Now()}
	if len(list) == deliveries {
		page.Older = list[len(list)-1].ID
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return h.site.Render(c, fiber.StatusOK, views.Webhook(page))
}

// Delete removes a webhook.
func (h *Hooks) Delete(c *fiber.Ctx) error {
	_, err := h.act(c, func(user accounts.User, id int64) error {
		return h.site.Store.Webhooks.DeleteWebhook(c.UserContext(), user, id)
	})
	if err != nil {
		return err
	}
	return site.Redirect(c, "/webhooks")
}

// Enable switches a webhook on again.
func (h *Hooks) Enable(c *fiber.Ctx) error {
	return h.stay(c, func(user accounts.User, id int64) error {
		return h.site.Store.Webhooks.EnableWebhook(c.UserContext(), user, id)
	})
}

// Test sends a message that says nothing.
func (h *Hooks) Test(c *fiber.Ctx) error {
	return h.stay(c, func(user accounts.User, id int64) error {
		return h.site.Store.Webhooks.TestWebhook(c.UserContext(), user, id)
	})
}

// Redeliver sends a delivery once more.
func (h *Hooks) Redeliver(c *fiber.Ctx) error {
	return h.stay(c, func(user accounts.User, id int64) error {
		delivery, err := site.IDParam(c, "delivery")
		if err == nil {
			_, err = h.site.Store.Webhooks.Redeliver(c.UserContext(), user, id, delivery)
		}
		return err
	})
}

func (h *Hooks) stay(c *fiber.Ctx, do func(accounts.User, int64) error) error {
	id, err := h.act(c, do)
	if err != nil {
		return err
	}
	return site.Redirect(c, views.WebhookURL(id))
}

func (h *Hooks) act(c *fiber.Ctx, do func(accounts.User, int64) error) (id int64, err error) {
	if id, err = site.IDParam(c, "id"); err != nil {
		return 0, err
	}
	return id, do(site.Actor(c), id)
}
