package dispatch

import (
	"time"

	"golang.org/x/time/rate"
)

// What one worker may have stored of its slots. Silicon and software are new after a start and an update; a machine of 16 units
// gauges each every minute at most.
const (
	noteEvery, noteBurst         = 5 * time.Minute, 20
	sentinelEvery, sentinelBurst = 3 * time.Second, 64
)

// rates bounds how often something is done for each worker. One goroutine uses it.
type rates struct {
	every time.Duration
	burst int
	of    map[string]*rate.Limiter
}

func newRates(every time.Duration, burst int) rates {
	return rates{every: every, burst: burst, of: map[string]*rate.Limiter{}}
}

func (r rates) allow(worker string) bool {
	if r.of[worker] == nil {
		r.of[worker] = rate.NewLimiter(rate.Every(r.every), r.burst)
	}
	return r.of[worker].Allow()
}
