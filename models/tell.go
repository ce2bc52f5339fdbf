package models

import (
	"context"

	"gorm.io/gorm"

	"warpboard/clients/go"
	"warpboard/models/inbox"
	"warpboard/models/webhooks"
)

// notifyInboxes adds notices about an event to the inboxes of the people concerned (webhooks.Callbacks).
func (s *Store) notifyInboxes(tx *gorm.DB, e webhooks.WebhookEvent) ([]webhooks.PersonalMessage, error) {
	var list []inbox.Notice
	var err error
	number, _ := e.Detail.(float64) // JSON numbers are decoded as float64
	switch e.Kind {
	case webhooks.RunEnded:
		list, err = inbox.RunEndedNotices(tx, e.RunID)
	case webhooks.PlaceTaken:
		list, err = inbox.PlaceNotices(tx, e.RunID, e.FormerHolderID, number)
	case webhooks.CommentMade:
		list, err = inbox.CommentNotices(tx, int64(number))
	case webhooks.DeadlineCame:
		list, err = inbox.DeadlineNotices(tx, int64(number))
	}
	if err != nil {
		return nil, err
	}
	made, err := s.Inbox.AddNotices(tx, list)
	if err != nil {
		return nil, err
	}
	var messages []webhooks.PersonalMessage
	for _, n := range made {
		// webhooks get RunEnded and RecordTaken events for these
		if n.Kind != inbox.RunEnded && n.Kind != inbox.RecordLost {
			messages = append(messages, webhooks.PersonalMessage{
				UserID: n.UserID,
				Kind:   webhooks.EventKind(n.Kind),
				Data:   s.NoticeForAPI(n),
			})
		}
	}
	return messages, nil
}

// announceComment adds notices about a comment.
func announceComment(tx *gorm.DB, id int64) error {
	return webhooks.StoreEvent(tx, webhooks.WebhookEvent{Kind: webhooks.CommentMade, Detail: id})
}

// NoticeForAPI converts a notice for the API.
func (s *Store) NoticeForAPI(n inbox.NamedNotice) client.Notice {
	return client.Notice{
		ID: n.ID, Kind: string(n.Kind), Text: n.Text(), URL: s.siteURL + n.Path(), Task: n.TaskSlug,
		CreatedAt: n.CreatedAt,
	}
}

// AddDeadlineNotices adds notices about near deadlines, and reads the open events. Several processes may run it
// concurrently.
func (s *Store) AddDeadlineNotices(ctx context.Context) error {
	if err := s.Events.ReadOpenEvents(ctx); err != nil {
		return err
	}
	if due, err := s.Inbox.HasDueReminders(ctx); err != nil || !due {
		return err
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		tasks, err := inbox.TakeDueReminders(tx)
		if err != nil {
			return err
		}
		for _, id := range tasks {
			if err := webhooks.StoreEvent(tx, webhooks.WebhookEvent{Kind: webhooks.DeadlineCame, Detail: id}); err != nil {
				return err
			}
		}
		return nil
	})
}
