package client

import (
	"context"
	"net/http"
	"net/url"
)

// InviteCode is a code for joining a members' board.
type InviteCode struct {
	Code string `json:"code" jsonschema:"invite code from the author of the task"`
}

// Joined is the task of an invite code, which the caller can now see.
type Joined struct {
	Task    string   `json:"task" jsonschema:"slug of the task"`
	Title   string   `json:"title"`
	Devices []string `json:"devices"`
	URL     string   `json:"url"`
}

// JoinBoard makes the owner of the token a member of the task of an invite code. A member may use additional codes of
// the same task.
func (c *Client) JoinBoard(ctx context.Context, code string) (*Joined, error) {
	return sendJSON[Joined](ctx, c, http.MethodPost, "/join", InviteCode{Code: code})
}

// LeaveBoard ends the membership of the owner of the token in the board of a task.
func (c *Client) LeaveBoard(ctx context.Context, task string) error {
	return c.sendWithoutAnswer(ctx, http.MethodDelete, "/tasks/"+url.PathEscape(task)+"/membership")
}
