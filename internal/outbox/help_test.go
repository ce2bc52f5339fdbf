package outbox_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/internal/outbox"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/webhooks"
)

// receiver is a program that receives events, and answers with the test's handler.
type receiver struct {
	*httptest.Server
	t      *testing.T
	answer atomic.Pointer[http.HandlerFunc]

	mu  sync.Mutex
	got []received
}

type received struct {
	id, timestamp, signature string
	body                     []byte
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t}
	r.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got = append(r.got, received{q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"),
			q.Header.Get("webhook-signature"), body})
		r.mu.Unlock()
		(*r.answer.Load())(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) respond(answer http.HandlerFunc) { r.answer.Store(&answer) }

// waitForDeliveries waits for n deliveries and returns those received so far.
func (r *receiver) waitForDeliveries(n int) []received {
	r.t.Helper()
	var got []received
	tier.WaitFor(r.t, "deliveries", func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if got = r.got; len(got) < n {
			return fmt.Errorf("%d have come, not %d", len(got), n)
		}
		return nil
	})
	return got
}

// proper reports whether the signature is valid. It follows the Standard Webhooks specification, without code of the
// site.
func (d received) proper(secret string) bool {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(d.id + "." + d.timestamp + "." + string(d.body)))
	return hmac.Equal([]byte(d.signature), []byte("v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
}

func (d received) event(t *testing.T) (kind string, data map[string]any) {
	t.Helper()
	var m struct {
		Type string
		Data map[string]any
	}
	if err := json.Unmarshal(d.body, &m); err != nil {
		t.Fatal(err)
	}
	return m.Type, m.Data
}

// clock is the clock of the deliverers; forward sets it ahead.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// roots returns the certificates of the tests' receivers.
func roots() *x509.CertPool {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// deliver runs a deliverer until stop is called or the test ends.
func deliver(t *testing.T, s *models.Store, c *clock, allowed []netip.Prefix) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	d := outbox.NewWebhookDeliverer(outbox.WebhookConfig{AllowedForPeople: allowed, RootCAs: roots(), AnswerTimeout: time.Second,
		LoopConfig: outbox.LoopConfig{Store: s, Log: slog.New(slog.DiscardHandler), Interval: 5 * time.Millisecond,
			Now: c.now}})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := d.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

func create(t *testing.T, s *models.Store, actor accounts.User, n webhooks.NewWebhook) webhooks.Webhook {
	t.Helper()
	hook, err := s.Webhooks.CreateWebhook(t.Context(), actor, n)
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

// over waits until the newest delivery of a webhook has ended, or until holds returns true for it.
func over(t *testing.T, s *models.Store, hook webhooks.Webhook, holds func(webhooks.Delivery) bool) webhooks.Delivery {
	t.Helper()
	boss := accounts.User{ID: -1, Role: accounts.RoleAdmin}
	var newest webhooks.Delivery
	tier.Until(t, "such a delivery", func() bool {
		list, err := s.Webhooks.WebhookDeliveries(t.Context(), boss, hook.ID, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 {
			newest = list[0]
		}
		return len(list) == 1 && holds(newest)
	})
	return newest
}

func tried(n int) func(webhooks.Delivery) bool {
	return func(d webhooks.Delivery) bool { return d.Tries == n }
}

// each runs fn on a store of each database. The stores allow webhooks with http:// addresses on this machine.
func each(t *testing.T, fn func(t *testing.T, s *models.Store)) {
	modelstest.EachConfig(t, models.Config{Webhooks: webhooks.AllowedNetworks{ForSite: loopback, ForPeople: loopback},
		SiteURL: "https://boards.example.org"}, fn)
}
