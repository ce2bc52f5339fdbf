package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Comment is a comment on a task or a submission.
type Comment struct {
	ID           int64      `json:"id"`
	URL          string     `json:"url"`
	User         User       `json:"user"`
	Writeup      bool       `json:"writeup" jsonschema:"the author's write-up, which stays on top"`
	Text         string     `json:"text" jsonschema:"Markdown; on a submission #L12 means a line of its source"`
	CreatedAt    time.Time  `json:"created"`
	EditedAt     *time.Time `json:"edited,omitempty"`
	HiddenReason string     `json:"hidden,omitempty" jsonschema:"why only moderators and the person who wrote it can read it; absent: everyone can"`
}

// CommentList is one page of comments, oldest first, after a write-up if there is one.
type CommentList struct {
	Comments  []Comment `json:"comments"`
	NextAfter int64     `json:"next,omitempty" jsonschema:"after of the next page; absent: this is the last"`
}

// NewComment is the request body for a new comment.
type NewComment struct {
	Text    string `json:"text" jsonschema:"Markdown of at most 4,000 characters, or 20,000 of a write-up"`
	Writeup bool   `json:"writeup,omitempty" jsonschema:"replace the write-up; for the author of the task or the submission"`
}

// NewReport is the request body for reporting a comment.
type NewReport struct {
	Reason string `json:"reason"`
}

// commentsPath returns the path of the comments on a submission, or on a task if submission is 0.
func commentsPath(task string, submission int64) string {
	if submission != 0 {
		return fmt.Sprintf("/submissions/%d/comments", submission)
	}
	return "/tasks/" + url.PathEscape(task) + "/comments"
}

// Comments returns the comments on a submission, or on a task if submission is 0, after an ID.
func (c *Client) Comments(ctx context.Context, task string, submission, after int64) (*CommentList, error) {
	return sendJSON[CommentList](ctx, c, http.MethodGet, fmt.Sprintf("%s?after=%d", commentsPath(task, submission), after), nil)
}
