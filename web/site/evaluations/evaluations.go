package evaluations

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/internal/cache"
	"warpboard/models/work"
	"warpboard/web/site"
)

// Limits limits the requests to the evaluation APIs. A zero field means its default.
type Limits struct {
	kernelrun.RequestLimits
	// limit of a request body in bytes; default 12 MiB, because a job must fit into the queue
	MaxBodyBytes          int
	work.EvaluationLimits // limits per person or address; defaults: 16 at once, 10,000 and 256 MiB per hour
	// MaxDeviceWait limits the time for which an evaluation whose caller waits may wait for a device. The default is
	// 300 s.
	MaxDeviceWait time.Duration
}

// maxCachedKernels limits the cache of kernel types and names, in bytes.
const maxCachedKernels = 4 << 20

// WithErrorCode adds a code to the error of a request, for pages and the versioned API.
func WithErrorCode(err error) error {
	var body *BodyError
	var refusal *kernelrun.Refusal
	switch {
	case errors.As(err, &body):
		return site.Invalid("body", "The request cannot be read: %v.", body)
	case errors.As(err, &refusal):
		return site.Invalid("invalid", "%s.", refusal.Message)
	}
	return err
}

// Evaluations is the part that the evaluation APIs and the playground share: callers, access rights, and reading,
// submitting, and following evaluations.
type Evaluations struct {
	site             *site.Site
	EvalLimits       Limits
	decodePermits    chan struct{}                // one element for each CPU core that decodes a request
	kernelCache      *cache.Cache[string, Kernel] // by evaluation ID; never outdated, because requests do not change
	tokenlessCallers string                       // callers that may evaluate without a token: "all", "loopback", or "none"
	startedAt        time.Time
}

// New returns the shared part of the evaluation APIs, with default limits where l has zero. It returns an error for
// invalid settings.
func New(site *site.Site, open string, l Limits) (*Evaluations, error) {
	standard := kernelrun.DefaultLimits()
	l.Trials, l.Timeout = cmp.Or(l.Trials, standard.Trials), cmp.Or(l.Timeout, standard.Timeout)
	l.MaxBodyBytes, l.MaxDeviceWait = cmp.Or(l.MaxBodyBytes, 12<<20), cmp.Or(l.MaxDeviceWait, 300*time.Second)
	l.MaxLive, l.MaxPerHour, l.MaxBytesPerHour = cmp.Or(l.MaxLive, 16), cmp.Or(l.MaxPerHour, 10_000), cmp.Or(l.MaxBytesPerHour, 256<<20)
	if open = cmp.Or(open, "none"); !slices.Contains([]string{"all", "loopback", "none"}, open) {
		return nil, fmt.Errorf("open evaluation API %q: want all, loopback or none", open)
	}
	return &Evaluations{
		site: site, EvalLimits: l, tokenlessCallers: open, startedAt: site.Now(),
		decodePermits: make(chan struct{}, runtime.GOMAXPROCS(0)),
		kernelCache:   cache.New[string, Kernel](maxCachedKernels),
	}, nil
}

// BodyLimit returns the limit of the body of an evaluation request, in bytes: higher for senders who may evaluate.
func (s *Evaluations) BodyLimit(c *fiber.Ctx) int {
	if site.Viewer(c) != nil || s.isOpenToRequest(c) {
		return s.EvalLimits.MaxBodyBytes
	}
	return site.MaxVisitorBodyBytes
}
