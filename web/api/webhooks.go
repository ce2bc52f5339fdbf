package api

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/webhooks"
	"warpboard/web/site"
)

const deliveryPageSize = 50

// Webhooks lists the sender's webhooks, or the site's.
func (a *API) Webhooks(c *fiber.Ctx) error {
	list, err := a.site.Store.Webhooks.Webhooks(c.UserContext(), site.Actor(c), c.QueryBool("site"))
	if err != nil {
		return err
	}
	answer := make([]client.Webhook, len(list))
	for i, hook := range list {
		answer[i] = webhookAnswer(hook)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"webhooks": answer})
}

func webhookAnswer(h webhooks.Webhook) client.Webhook {
	answer := client.Webhook{
		ID: h.ID, URL: h.URL, Events: []string{}, ForWholeSite: h.UserID == 0, LongWaitSeconds: h.LongWaitSeconds,
		CreatedAt: h.CreatedAt, DisabledReason: h.DisabledReason,
	}
	for _, kind := range h.EventKinds {
		answer.Events = append(answer.Events, string(kind))
	}
	return answer
}

// CreateWebhook creates a webhook. Only this response contains the webhook's secret.
func (a *API) CreateWebhook(c *fiber.Ctx) error {
	user := site.Actor(c)
	var asked client.NewWebhook
	if err := readJSON(c, &asked); err != nil {
		return err
	}
	n := webhooks.NewWebhook{
		ForWholeSite: asked.ForWholeSite,
		URL:          asked.URL,
		LongWait:     time.Duration(asked.LongWaitSeconds) * time.Second,
	}
	for _, kind := range asked.Events {
		n.EventKinds = append(n.EventKinds, webhooks.EventKind(kind))
	}
	hook, err := a.site.Store.Webhooks.CreateWebhook(c.UserContext(), user, n)
	if err != nil {
		return err
	}
	answer := webhookAnswer(hook)
	answer.Secret = hook.Secret
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(answer)
}

// DeleteWebhook removes a webhook with its log.
func (a *API) DeleteWebhook(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	if err := a.site.Store.Webhooks.DeleteWebhook(c.UserContext(), site.Actor(c), id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// TestWebhook queues a test message to a webhook.
func (a *API) TestWebhook(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	if err := a.site.Store.Webhooks.TestWebhook(c.UserContext(), site.Actor(c), id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// Deliveries lists the deliveries of a webhook, the newest first.
func (a *API) Deliveries(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	list, err := a.site.Store.Webhooks.WebhookDeliveries(c.UserContext(), site.Actor(c), id, int64(c.QueryInt("before")), deliveryPageSize)
	if err != nil {
		return err
	}
	answer := make([]client.Delivery, len(list))
	for i, d := range list {
		answer[i] = deliveryAnswer(d)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"deliveries": answer})
}

func deliveryAnswer(d webhooks.Delivery) client.Delivery {
	return client.Delivery{ID: d.ID, MessageID: d.MessageID, Event: string(d.Kind), Body: json.RawMessage(d.Body), Tries: d.Tries, Status: d.Status,
		Error: d.Error, CreatedAt: d.CreatedAt, DeliveredAt: d.DeliveredAt, NextTryAt: d.NextTryAt}
}

// Redeliver sends a webhook message again.
func (a *API) Redeliver(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	delivery, err := site.IDParam(c, "delivery")
	if err != nil {
		return err
	}
	d, err := a.site.Store.Webhooks.Redeliver(c.UserContext(), site.Actor(c), id, delivery)
	if err != nil {
		return err
	}
	return c.JSON(deliveryAnswer(d))
}
