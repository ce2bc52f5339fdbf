package client

import (
	"encoding/json"
	"time"
)

// NewWebhook is the request body of POST /api/v1/webhooks.
type NewWebhook struct {
	URL             string   `json:"url" jsonschema:"https://… on the public internet; for the site's webhooks also networks that the operator allows, with http:// too. A delivery is a POST, signed as standardwebhooks.com describes"`
	Events          []string `json:"events" jsonschema:"run.ended, record.taken, place.lost, comment.added and deadline.near; the site's run.ended, record.taken, worker.lost and wait.long"`
	ForWholeSite    bool     `json:"site,omitempty" jsonschema:"a site webhook, for all runs; for admins"`
	LongWaitSeconds int      `json:"wait_seconds,omitempty" jsonschema:"the limit of wait.long; absent: 1800"`
}

// Webhook is the address of a program that receives events.
type Webhook struct {
	ID              int64     `json:"id"`
	URL             string    `json:"url"`
	Events          []string  `json:"events"`
	ForWholeSite    bool      `json:"site"`
	LongWaitSeconds int       `json:"wait_seconds"`
	Secret          string    `json:"secret,omitempty" jsonschema:"the signing key, whsec_…; only in the answer that creates the webhook"`
	CreatedAt       time.Time `json:"created"`
	DisabledReason  string    `json:"off,omitempty" jsonschema:"why it is switched off"`
}

// Delivery is one message to a webhook, with the result of its last try.
type Delivery struct {
	ID          int64           `json:"id"`
	MessageID   string          `json:"message_id" jsonschema:"the header webhook-id, the same in every try"`
	Event       string          `json:"event"`
	Body        json.RawMessage `json:"body"`
	Tries       int             `json:"tries"`
	Status      int             `json:"status,omitempty" jsonschema:"of the receiver's last answer"`
	Error       string          `json:"error,omitempty" jsonschema:"why the last try failed"`
	CreatedAt   time.Time       `json:"created"`
	DeliveredAt *time.Time      `json:"delivered,omitempty"`
	NextTryAt   *time.Time      `json:"next_try,omitempty" jsonschema:"absent: there is no further try"`
}

// WebhookMessage is the body of a delivery.
type WebhookMessage struct {
	Type      string          `json:"type" jsonschema:"run.ended, record.taken, place.lost, comment.added, deadline.near, worker.lost, wait.long or test"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// EndedRun is the data of run.ended and record.taken.
type EndedRun struct {
	Run                   int64    `json:"run"`
	URL                   string   `json:"url"`
	Submission            int64    `json:"submission"`
	Task                  string   `json:"task"`
	Version               int      `json:"version"`
	Device                string   `json:"device"`
	Mode                  string   `json:"mode"`
	State                 string   `json:"state"`
	IsInfrastructureError bool     `json:"infrastructure_error"`
	ScoreNS               *float64 `json:"score_ns" jsonschema:"null: it has none"`
	User                  User     `json:"user"`
	PreviousRecord        *struct {
		User    User    `json:"user"`
		ScoreNS float64 `json:"score_ns"`
	} `json:"previous,omitempty" jsonschema:"who held the record before; absent: it is the first"`
	Outcome *Outcome `json:"outcome,omitempty" jsonschema:"what a ranked run means on the board; absent: it is on no board"`
}
