package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/web/site"
)

const noticePageSize = 50

// Inbox lists the sender's notices, newest first.
func (a *API) Inbox(c *fiber.Ctx) error {
	user := site.Actor(c)
	list, err := a.site.Store.Inbox.List(c.UserContext(), user, int64(c.QueryInt("before")), noticePageSize)
	if err != nil {
		return err
	}
	answer := client.InboxPage{Unread: user.UnreadNotices, Notices: make([]client.Notice, len(list))}
	for i, n := range list {
		answer.Notices[i] = a.site.Store.NoticeForAPI(n)
		answer.Notices[i].URL = a.site.Settings.BaseURL + n.Path()
		answer.Notices[i].Unread = n.ID > user.LastReadNoticeID
	}
	if len(list) == noticePageSize {
		answer.NextBefore = list[len(list)-1].ID
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer)
}

// MarkInboxRead marks notices as read.
func (a *API) MarkInboxRead(c *fiber.Ctx) error {
	user, upTo := site.Actor(c), int64(c.QueryInt("up_to"))
	var err error
	if upTo > 0 {
		err = a.site.Store.Inbox.MarkRead(c.UserContext(), user, upTo)
	} else {
		err = a.site.Store.Inbox.MarkAllRead(c.UserContext(), user, time.Now())
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
