package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
)

// EvalLimits bound what the evaluation APIs take. A zero field means its default.
type EvalLimits struct {
	kernelrun.Bounds
	Body   int           // bytes of a request; 12 MiB, for a job must fit into the queue
	AtOnce int           // evaluations of one token, session or address that wait or run; 16
	Wait   time.Duration // how long a waiting caller's evaluation may wait for a device; 300 s
}

// Evaluations is what the APIs and the playground share: who asks, who may read, how one is read, submitted
// and followed.
type Evaluations struct {
	*Site
	EvalLimits EvalLimits
	open       string // who may evaluate without a token: "all", "loopback" or "none"
}

// NewEvaluations fills in defaults and refuses what cannot work.
func NewEvaluations(site *Site, open string, l EvalLimits) (*Evaluations, error) {
	standard := kernelrun.DefaultBounds()
	l.Trials, l.Timeout = cmp.Or(l.Trials, standard.Trials), cmp.Or(l.Timeout, standard.Timeout)
	l.Body, l.AtOnce, l.Wait = cmp.Or(l.Body, 12<<20), cmp.Or(l.AtOnce, 16), cmp.Or(l.Wait, 300*time.Second)
	if open = cmp.Or(open, "none"); !slices.Contains([]string{"all", "loopback", "none"}, open) {
		return nil, fmt.Errorf("open evaluation API %q: want all, loopback or none", open)
	}
	return &Evaluations{Site: site, EvalLimits: l, open: open}, nil
}

// bodyLimit limits requests that carry kernels.
func (s *Evaluations) bodyLimit(c *fiber.Ctx) int {
	if viewer(c) != nil || s.evalOpen(c) {
		return s.EvalLimits.Body
	}
	return strangerBody
}
