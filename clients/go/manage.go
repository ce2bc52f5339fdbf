package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Tokens lists the tokens that still work of whose token the client has.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	list, err := ask[struct {
		Tokens []Token `json:"tokens"`
	}](ctx, c, http.MethodGet, "/tokens", nil)
	if err != nil {
		return nil, err
	}
	return list.Tokens, nil
}

// RevokeToken ends a token.
func (c *Client) RevokeToken(ctx context.Context, id int64) error {
	return c.do(ctx, http.MethodDelete, fmt.Sprintf("/tokens/%d", id))
}

// ShareEvaluation opens an evaluation of the caller to anyone with its id, or closes it again.
func (c *Client) ShareEvaluation(ctx context.Context, id string, shared bool) (*Evaluation, error) {
	return ask[Evaluation](ctx, c, http.MethodPatch, "/evaluations/"+url.PathEscape(id), EvaluationChange{Shared: &shared})
}

// Webhooks lists one's own webhooks, or the site's.
func (c *Client) Webhooks(ctx context.Context, ofSite bool) ([]Webhook, error) {
	path := "/webhooks"
	if ofSite {
		path += "?site=1"
	}
	list, err := ask[struct {
		Webhooks []Webhook `json:"webhooks"`
	}](ctx, c, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return list.Webhooks, nil
}

// CreateWebhook makes a webhook. The answer has the secret of its signatures, this once.
func (c *Client) CreateWebhook(ctx context.Context, in NewWebhook) (*Webhook, error) {
	return ask[Webhook](ctx, c, http.MethodPost, "/webhooks", in)
}

// DeleteWebhook removes a webhook with its log.
func (c *Client) DeleteWebhook(ctx context.Context, id int64) error {
	return c.do(ctx, http.MethodDelete, fmt.Sprintf("/webhooks/%d", id))
}

// TestWebhook sends a test to a webhook.
func (c *Client) TestWebhook(ctx context.Context, id int64) error {
	return c.do(ctx, http.MethodPost, fmt.Sprintf("/webhooks/%d/test", id))
}

// Deliveries lists what was sent to a webhook, the newest first; before is the id of the last one of the page before, or 0.
func (c *Client) Deliveries(ctx context.Context, id, before int64) ([]Delivery, error) {
	path := fmt.Sprintf("/webhooks/%d/deliveries", id)
	if before > 0 {
		path += fmt.Sprintf("?before=%d", before)
	}
	list, err := ask[struct {
		Deliveries []Delivery `json:"deliveries"`
	}](ctx, c, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return list.Deliveries, nil
}

// Redeliver sends a delivery once more.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery int64) (*Delivery, error) {
	return ask[Delivery](ctx, c, http.MethodPost, fmt.Sprintf("/webhooks/%d/deliveries/%d/redeliver", webhook, delivery), nil)
}

// do sends a request whose answer has no content.
func (c *Client) do(ctx context.Context, method, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := c.send(ctx, method, path, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
