package queue

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestAStolenSecretFillsNoMemoryWithSubscriptions, each of which costs the server three kilobytes.
func TestAStolenSecretFillsNoMemoryWithSubscriptions(t *testing.T) {
	attackedEverywhere(t, func(t *testing.T, a *attacked) {
		nc := a.raw(t)
		for i := range 2000 {
			if _, err := nc.Subscribe(fmt.Sprintf("%s%s.%d", inboxPrefix, token(thief), i), func(*nats.Msg) {}); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := nc.LastError(); !errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
			t.Errorf("2,000 subscriptions: %v", err)
		}
	})
}
