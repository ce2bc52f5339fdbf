package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Tokens returns the valid tokens of the person who owns the token of the client.
func (c *Client) Tokens(ctx context.Context) ([]Token, error) {
	list, err := sendJSON[struct {
		Tokens []Token `json:"tokens"`
	}](ctx, c, http.MethodGet, "/tokens", nil)
	if err != nil {
		return nil, err
	}
	return list.Tokens, nil
}

// RevokeToken revokes a token.
func (c *Client) RevokeToken(ctx context.Context, id int64) error {
	return c.sendWithoutAnswer(ctx, http.MethodDelete, fmt.Sprintf("/tokens/%d", id))
}

// ShareEvaluation makes an evaluation of the caller public for each person with its ID, or private again.
func (c *Client) ShareEvaluation(ctx context.Context, id string, shared bool) (*Evaluation, error) {
	return sendJSON[Evaluation](ctx, c, http.MethodPatch, "/evaluations/"+url.PathEscape(id), EvaluationChange{Shared: &shared})
}

// Webhooks returns the webhooks of the caller, or, if ofSite is true, those of the site.
func (c *Client) Webhooks(ctx context.Context, ofSite bool) ([]Webhook, error) {
	path := "/webhooks"
	if ofSite {
		path += "?site=1"
	}
	list, err := sendJSON[struct {
		Webhooks []Webhook `json:"webhooks"`
	}](ctx, c, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return list.Webhooks, nil
}

// CreateWebhook creates a webhook. Only its response contains the secret for checking signatures.
func (c *Client) CreateWebhook(ctx context.Context, in NewWebhook) (*Webhook, error) {
	return sendJSON[Webhook](ctx, c, http.MethodPost, "/webhooks", in)
}

// DeleteWebhook deletes a webhook with its log.
func (c *Client) DeleteWebhook(ctx context.Context, id int64) error {
	return c.sendWithoutAnswer(ctx, http.MethodDelete, fmt.Sprintf("/webhooks/%d", id))
}

// TestWebhook sends a test message to a webhook.
func (c *Client) TestWebhook(ctx context.Context, id int64) error {
	return c.sendWithoutAnswer(ctx, http.MethodPost, fmt.Sprintf("/webhooks/%d/test", id))
}

// Deliveries returns the deliveries of a webhook, newest first. before is the ID of the last one on the previous page;
// 0 for the first page.
func (c *Client) Deliveries(ctx context.Context, id, before int64) ([]Delivery, error) {
	path := fmt.Sprintf("/webhooks/%d/deliveries", id)
	if before > 0 {
		path += fmt.Sprintf("?before=%d", before)
	}
	list, err := sendJSON[struct {
		Deliveries []Delivery `json:"deliveries"`
	}](ctx, c, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return list.Deliveries, nil
}

// Redeliver sends a delivery again.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery int64) (*Delivery, error) {
	return sendJSON[Delivery](ctx, c, http.MethodPost, fmt.Sprintf("/webhooks/%d/deliveries/%d/redeliver", webhook, delivery), nil)
}

// sendWithoutAnswer sends a request and expects a response without content.
func (c *Client) sendWithoutAnswer(ctx context.Context, method, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := c.sendBody(ctx, method, path, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
