package account

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

// deliveriesPerPage is the number of deliveries on one page of a webhook's log.
const deliveriesPerPage = 25

// Webhooks shows a person's webhooks. Admins also see the site's webhooks.
func (p *Account) Webhooks(c *fiber.Ctx) error { return p.showWebhooks(c, fiber.StatusOK, "", "") }

func (p *Account) showWebhooks(c *fiber.Ctx, status int, secret, problem string) (err error) {
	page := views.WebhooksPage{Page: p.site.Page(c, "Webhooks", "me"), NewSecret: secret, Problem: problem}
	if page.Mine, err = p.webhookList(c, webhooks.PersonalKinds(), false); err != nil {
		return err
	}
	if site.Actor(c).IsAdmin() {
		if page.Site, err = p.webhookList(c, webhooks.SiteKinds(), true); err != nil {
			return err
		}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, status, views.Webhooks(page))
}

func (p *Account) webhookList(c *fiber.Ctx, kinds []webhooks.EventKind, ofSite bool) (views.WebhookList, error) {
	hooks, err := p.site.Store.Webhooks.Webhooks(c.UserContext(), site.Actor(c), ofSite)
	return views.WebhookList{Rows: hooks, Kinds: kinds}, err
}

// WebhookCreate creates a webhook and shows its secret. Only this response contains it.
func (p *Account) WebhookCreate(c *fiber.Ctx) error {
	user := site.Actor(c)
	n := webhooks.NewWebhook{ForWholeSite: c.FormValue("of") == "site", URL: c.FormValue("url")}
	if minutes, err := strconv.Atoi(c.FormValue("wait", "30")); err == nil {
		n.LongWait = time.Duration(min(minutes, 1<<20)) * time.Minute
	}
	for _, kind := range c.Context().PostArgs().PeekMulti("events") {
		n.EventKinds = append(n.EventKinds, webhooks.EventKind(kind))
	}
	hook, err := p.site.Store.Webhooks.CreateWebhook(c.UserContext(), user, n)
	if kind := db.KindOf(err); kind == db.Invalid || kind == db.Conflict {
		refused := site.FailureFromError(err)
		return p.showWebhooks(c, refused.Status, "", refused.Message)
	}
	if err != nil {
		return err
	}
	return p.showWebhooks(c, fiber.StatusOK, hook.Secret, "")
}

// Webhook shows one webhook with its deliveries.
func (p *Account) Webhook(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	hook, err := p.site.Store.Webhooks.Webhook(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	list, err := p.site.Store.Webhooks.WebhookDeliveries(c.UserContext(), site.Actor(c), id, int64(c.QueryInt("before")), deliveriesPerPage)
	if err != nil {
		return err
	}
	page := views.WebhookPage{Page: p.site.Page(c, "Webhook", "me"), Of: hook, Deliveries: list, Now: p.site.Now()}
	if len(list) == deliveriesPerPage {
		page.Older = list[len(list)-1].ID
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, fiber.StatusOK, views.Webhook(page))
}

// WebhookDelete removes a webhook.
func (p *Account) WebhookDelete(c *fiber.Ctx) error {
	_, err := p.actOnWebhook(c, func(user accounts.User, id int64) error {
		return p.site.Store.Webhooks.DeleteWebhook(c.UserContext(), user, id)
	})
	if err != nil {
		return err
	}
	return site.Redirect(c, "/webhooks")
}

// WebhookEnable enables a disabled webhook.
func (p *Account) WebhookEnable(c *fiber.Ctx) error {
	return p.changeWebhook(c, func(user accounts.User, id int64) error {
		return p.site.Store.Webhooks.EnableWebhook(c.UserContext(), user, id)
	})
}

// WebhookTest sends a test message.
func (p *Account) WebhookTest(c *fiber.Ctx) error {
	return p.changeWebhook(c, func(user accounts.User, id int64) error {
		return p.site.Store.Webhooks.TestWebhook(c.UserContext(), user, id)
	})
}

// WebhookRedeliver sends a webhook message again.
func (p *Account) WebhookRedeliver(c *fiber.Ctx) error {
	return p.changeWebhook(c, func(user accounts.User, id int64) error {
		delivery, err := site.IDParam(c, "delivery")
		if err == nil {
			_, err = p.site.Store.Webhooks.Redeliver(c.UserContext(), user, id, delivery)
		}
		return err
	})
}

func (p *Account) changeWebhook(c *fiber.Ctx, do func(accounts.User, int64) error) error {
	id, err := p.actOnWebhook(c, do)
	if err != nil {
		return err
	}
	return site.Redirect(c, views.WebhookURL(id))
}

func (p *Account) actOnWebhook(c *fiber.Ctx, do func(accounts.User, int64) error) (id int64, err error) {
	if id, err = site.IDParam(c, "id"); err != nil {
		return 0, err
	}
	return id, do(site.Actor(c), id)
}
