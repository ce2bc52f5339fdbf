package account

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/models/inbox"
	"warpboard/views"
	"warpboard/web/site"
)

const noticesPerPage = 30 // on one page

// Inbox lists a person's notices and marks them as read.
func (p *Account) Inbox(c *fiber.Ctx) error { return p.showInbox(c, fiber.StatusOK, "", "") }

// showInbox renders the inbox. problem is the reason why the typed e-mail address was refused, or "".
func (p *Account) showInbox(c *fiber.Ctx, status int, problem, typed string) error {
	ctx, user, before, at := c.UserContext(), site.Actor(c), int64(c.QueryInt("before")), time.Now()
	list, err := p.site.Store.Inbox.List(ctx, user, before, noticesPerPage)
	if err != nil {
		return err
	}
	page := views.InboxPage{
		Page:        p.site.Page(c, "Inbox", "me"),
		Mails:       p.site.Store.Inbox.SendsMail(),
		SignInEmail: user.Email,
		Problem:     problem,
		Typed:       typed,
	}
	for _, n := range list {
		page.Rows = append(page.Rows, views.InboxRow{NamedNotice: n, Unread: n.ID > user.LastReadNoticeID})
	}
	if len(list) == noticesPerPage {
		page.Older = list[noticesPerPage-1].ID
	}
	if page.Choices, err = p.site.Store.Inbox.Choices(ctx, user.ID); err != nil {
		return err
	}
	if user.UnreadNotices > 0 && before == 0 && isViewedByPerson(c) {
		if err := p.site.Store.Inbox.MarkAllRead(ctx, user, at); err != nil {
			return err
		}
		page.Viewer.UnreadNotices = 0
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return p.site.Render(c, status, views.Inbox(page))
}

// isViewedByPerson reports whether a person views the page. It is false for programs, and for browsers that preload the
// page or load it as an image or in a frame.
func isViewedByPerson(c *fiber.Ctx) bool {
	dest := cmp.Or(c.Get("Sec-Fetch-Dest"), "document")
	return c.Method() == fiber.MethodGet && (dest == "document" || dest == "empty") && !site.HasBearerToken(c) && !strings.Contains(c.Get("Sec-Purpose")+c.Get("Purpose"), "prefetch")
}

// InboxSettingsSave stores the viewer's choice of notices, and of e-mail as a second way of delivery.
func (p *Account) InboxSettingsSave(c *fiber.Ctx) error {
	ctx, user := c.UserContext(), site.Actor(c)
	if err := p.site.Store.Inbox.SetChoices(ctx, user, readNoticeKinds(c, "on"),
		readNoticeKinds(c, "mail")); err != nil {
		return err
	}
	done := "saved"
	if p.site.Store.Inbox.SendsMail() {
		address := c.FormValue("address")
		asked, err := p.site.Store.Inbox.SetAddress(ctx, user, address)
		switch kind := db.KindOf(err); {
		case err == nil && asked:
			done = "confirm-mail"
		case kind == db.Invalid || kind == db.TooMany:
			refused := site.FailureFromError(err)
			return p.showInbox(c, refused.Status, refused.Message, address)
		case err != nil:
			return err
		}
	}
	return site.Redirect(c, templ.SafeURL("/inbox?done="+done))
}

func readNoticeKinds(c *fiber.Ctx, field string) (list []inbox.NoticeKind) {
	for _, kind := range c.Context().PostArgs().PeekMulti(field) {
		list = append(list, inbox.NoticeKind(kind))
	}
	return list
}

// MailConfirmPage shows the page of a confirmation link, with the button that confirms the e-mail address.
func (p *Account) MailConfirmPage(c *fiber.Ctx) error {
	return p.site.Render(c, fiber.StatusOK, views.MailQuestion(views.MailQuestionPage{Page: p.site.Page(c, "Confirm your address", "me"),
		About: "Notices will be sent to the address that received this link.", Action: "/inbox/confirm/" + url.PathEscape(c.Params("code")), Button: "Confirm"}))
}

// MailConfirm confirms an e-mail address by the token of its link. Notices are also sent there from then on.
func (p *Account) MailConfirm(c *fiber.Ctx) error {
	if err := p.site.Store.Inbox.ConfirmAddress(c.UserContext(), site.Actor(c), c.Params("code")); err != nil {
		return err
	}
	return site.Redirect(c, "/inbox?done=saved")
}

// UnsubscribePage shows the page of an unsubscribe link, with the button that ends e-mails. It looks the same for
// invalid tokens.
func (p *Account) UnsubscribePage(c *fiber.Ctx) error {
	return p.site.Render(c, fiber.StatusOK, views.MailQuestion(views.MailQuestionPage{Page: p.site.Page(c, "Turn off e-mails", ""),
		About: "You then get no more notices by e-mail. They stay in your inbox.", Action: "/inbox/off/" + url.PathEscape(c.Params("token")), Button: "Turn off e-mails"}))
}

// Unsubscribe ends the e-mails to an address. The token in the path authorizes this, because mail programs send this
// request without a session (RFC 8058).
func (p *Account) Unsubscribe(c *fiber.Ctx) error {
	if err := p.site.Store.Inbox.Unsubscribe(c.UserContext(), c.Params("token")); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.MailQuestion(views.MailQuestionPage{Page: p.site.Page(c, "E-mails are off", ""),
		About: "You get no more notices by e-mail. You can turn them on again in your inbox."}))
}

// MailQueue shows admins the state of the e-mail queue.
func (p *Account) MailQueue(c *fiber.Ctx) error {
	found, err := p.site.Store.Inbox.MailQueue(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Postbox(views.PostboxPage{
		Page:            p.site.Page(c, "E-mail", "moderation"),
		On:              p.site.Store.Inbox.SendsMail(),
		MailQueueStatus: found,
	}))
}
