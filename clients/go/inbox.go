package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Notice is one line of an inbox.
type Notice struct {
	ID        int64     `json:"id"`
	Kind      string    `json:"kind" jsonschema:"run.ended, record.lost, record.confirmed, place.lost, comment.added or deadline.near"`
	Text      string    `json:"text" jsonschema:"what happened, in a sentence"`
	URL       string    `json:"url" jsonschema:"where it happened"`
	Task      string    `json:"task" jsonschema:"slug of the task"`
	Unread    bool      `json:"unread,omitempty"`
	CreatedAt time.Time `json:"created"`
}

// InboxPage is one page of notices, newest first.
type InboxPage struct {
	Unread     int      `json:"unread" jsonschema:"notices that were not read, on all pages"`
	Notices    []Notice `json:"notices"`
	NextBefore int64    `json:"next,omitempty" jsonschema:"before of the next page; absent: this is the last"`
}

// Inbox returns notices of the caller that are older than the one with ID before; 0 starts at the newest.
func (c *Client) Inbox(ctx context.Context, before int64) (*InboxPage, error) {
	return sendJSON[InboxPage](ctx, c, http.MethodGet, fmt.Sprintf("/inbox?before=%d", before), nil)
}

// MarkInboxRead marks all notices up to ID upTo as read; 0 marks all.
func (c *Client) MarkInboxRead(ctx context.Context, upTo int64) error {
	return c.sendWithoutAnswer(ctx, http.MethodPost, fmt.Sprintf("/inbox/read?up_to=%d", upTo))
}
