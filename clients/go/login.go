package client

import (
	"context"
	"net/http"
	"time"
)

// NewLogin is the request body for signing in a command line.
type NewLogin struct {
	Host string `json:"host" jsonschema:"name of the machine, shown to the person who approves"`
}

// Login is a sign-in that a person must approve in a browser.
type Login struct {
	Secret      string    `json:"secret" jsonschema:"secret for requesting the token"`
	Code        string    `json:"code" jsonschema:"code that the person compares or types"`
	URL         string    `json:"url" jsonschema:"address at which the person approves"`
	PollSeconds int       `json:"every" jsonschema:"seconds between two requests"`
	ExpiresAt   time.Time `json:"expires"`
}

// LoginPollRequest is the request body for polling a login.
type LoginPollRequest struct {
	Secret string `json:"secret"`
}

// LoginAnswer has the token of an approved login, if it is approved.
type LoginAnswer struct {
	Token string `json:"token,omitempty" jsonschema:"personal token; absent: not approved yet"`
	User  *User  `json:"user,omitempty"`
}

// Token is a personal token, without its secret.
type Token struct {
	ID                int64      `json:"id"`
	Name              string     `json:"name"`
	SecretPrefix      string     `json:"prefix" jsonschema:"how the secret begins"`
	UsedByThisRequest bool       `json:"current,omitempty" jsonschema:"the request came with it"`
	CreatedAt         time.Time  `json:"created"`
	LastUsedAt        *time.Time `json:"used,omitempty" jsonschema:"when it was last used, to the minute"`
	ExpiresAt         *time.Time `json:"expires,omitempty" jsonschema:"absent: never"`
}

// BeginLogin starts a login from a machine with the name host.
func (c *Client) BeginLogin(ctx context.Context, host string) (*Login, error) {
	return sendJSON[Login](ctx, c, http.MethodPost, "/login", NewLogin{Host: host})
}

// EndLogin returns the state of a login, with the token if it was approved.
func (c *Client) EndLogin(ctx context.Context, secret string) (*LoginAnswer, error) {
	return sendJSON[LoginAnswer](ctx, c, http.MethodPost, "/login/token", LoginPollRequest{Secret: secret})
}
