package outbox

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"warpboard/models"
)

// LoopConfig has the fields that the configurations of WebhookDeliverer and Mailer have in common.
type LoopConfig struct {
	Store    *models.Store
	Log      *slog.Logger
	Interval time.Duration    // interval of checking for due messages; 0 for the sender's usual one
	Now      func() time.Time // nil for time.Now
}

func (l LoopConfig) currentTime() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

// runRepeatedly calls pass now and after each interval until ctx ends. The error of a pass is logged.
func (l LoopConfig) runRepeatedly(ctx context.Context, usual time.Duration, what string, pass func() error) error {
	tick := time.NewTicker(cmp.Or(l.Interval, usual))
	defer tick.Stop()
	for {
		if err := pass(); err != nil && ctx.Err() == nil {
			l.Log.Error(what, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
