package warm

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"warpboard/evaluator/sandbox"
)

const (
	// acquireTimeout limits the wait for a Python that is still importing. The first import of torch after a boot takes
	// this long.
	acquireTimeout = 20 * time.Second
	// importTimeout limits the imports of one Python.
	importTimeout = 2 * time.Minute
)

// Pool keeps warm Pythons ready, by the number of their sandbox slot. It is safe for concurrent use.
type Pool struct {
	sandbox Sandbox
	log     *slog.Logger

	mu    sync.Mutex
	slots map[int]*pythonSlot
}

// NewPool returns an empty pool.
func NewPool(box Sandbox, log *slog.Logger) *Pool {
	return &Pool{sandbox: box, log: log, slots: map[int]*pythonSlot{}}
}

// pythonSlot has the warm Pythons of one sandbox slot.
type pythonSlot struct {
	spec            sandbox.Spec
	pythons         chan *Python
	lastStartFailed atomic.Bool // the last start failed: do not wait for the next
}

func (p *Pool) slot(number int) *pythonSlot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slots[number]
}

// IsKeepingPythons reports whether KeepPythonsReady keeps Pythons at a slot.
func (p *Pool) IsKeepingPythons(number int) bool { return p.slot(number) != nil }

// KeepPythonsReady keeps n Pythons ready at the spec's slot until ctx ends. TakeMatching returns each of them for one
// job. exclusive allows only one at a time: the next starts after the last one has ended, because its imports would
// disturb programs that are timed on the processors.
func (p *Pool) KeepPythonsReady(ctx context.Context, spec sandbox.Spec, n int, exclusive bool) error {
	s := &pythonSlot{spec: spec, pythons: make(chan *Python)}
	p.mu.Lock()
	p.slots[spec.SandboxSlot] = s
	p.mu.Unlock()
	defer p.dropSlot(s)
	if exclusive {
		n = min(n, 1)
	}
	var keepers sync.WaitGroup
	for range n {
		keepers.Go(func() { p.refillSlot(ctx, s, exclusive) })
	}
	<-ctx.Done()
	keepers.Wait()
	return ctx.Err()
}

// refillSlot keeps an idle Python ready for the slot until ctx ends: it starts another one when one is taken. exclusive
// is KeepPythonsReady's.
func (p *Pool) refillSlot(ctx context.Context, s *pythonSlot, exclusive bool) {
	for pause := time.Second; ctx.Err() == nil; {
		r, err := p.StartPython(ctx, s.spec)
		s.lastStartFailed.Store(err != nil)
		if err != nil {
			p.log.Warn("no warm Python", "slot", s.spec.SandboxSlot, "err", err, "again_in", pause)
			sleepContext(ctx, pause)
			pause = min(2*pause, time.Minute)
			continue
		}
		pause = time.Second
		s.handOverPython(ctx, r, exclusive)
	}
}

// handOverPython waits until TakeMatching or TakeReady takes the Python, or the Python or ctx ends. If wait is true, it
// also waits until the Python has ended.
func (s *pythonSlot) handOverPython(ctx context.Context, r *Python, wait bool) {
	select {
	case s.pythons <- r:
	case <-r.ended: // the Python died before anything used it
		r.Stop()
		return
	case <-ctx.Done():
		r.Stop()
		return
	}
	if !wait {
		return
	}
	select {
	case <-r.ended:
	case <-ctx.Done():
	}
}

// dropSlot removes a slot, after its Pythons were taken.
func (p *Pool) dropSlot(s *pythonSlot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slots[s.spec.SandboxSlot] == s {
		delete(p.slots, s.spec.SandboxSlot)
	}
}

// StartPython starts a Python and waits for its imports, at most until ctx ends. The Python outlives ctx; the caller
// must stop it.
func (p *Pool) StartPython(ctx context.Context, spec sandbox.Spec) (*Python, error) {
	r, err := startPython(context.WithoutCancel(ctx), p.sandbox, spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, importTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, r.kill)()
	if err := r.waitUntilReady(); err != nil {
		return nil, err
	}
	return r, nil
}

// matchesSpec reports whether the slot's Pythons have the modules, devices, and memory of spec.
func (s *pythonSlot) matchesSpec(spec sandbox.Spec) bool {
	return slices.Equal(s.spec.Argv, spec.Argv) && slices.Equal(s.spec.DeviceNodes, spec.DeviceNodes) && s.spec.AllowInternetSockets == spec.AllowInternetSockets &&
		s.spec.Limits.Memory == spec.Limits.Memory
}

// TakeMatching returns a Python that matches spec from the spec's slot, or nil if none becomes ready in time. For a job
// on several GPUs it returns nil, because its Python needs more devices and network interfaces.
func (p *Pool) TakeMatching(ctx context.Context, spec sandbox.Spec) *Python {
	s := p.slot(spec.SandboxSlot)
	if s == nil || !s.matchesSpec(spec) {
		return nil
	}
	timeout := time.NewTimer(acquireTimeout)
	defer timeout.Stop()
	if s.lastStartFailed.Load() {
		timeout.Reset(0)
	}
	for {
		select {
		case r := <-s.pythons:
			if r.IsAlive() {
				return r
			}
			r.Stop()
		case <-timeout.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// ReadyOrNew returns a Python that matches spec: one that is ready at its slot, or a new one.
func (p *Pool) ReadyOrNew(ctx context.Context, spec sandbox.Spec) (*Python, error) {
	if s := p.slot(spec.SandboxSlot); s != nil && s.matchesSpec(spec) {
		if r := p.TakeReady(spec.SandboxSlot); r != nil {
			return r, nil
		}
	}
	return p.StartPython(ctx, spec)
}

// TakeReady returns a Python that is ready at a slot, or nil.
func (p *Pool) TakeReady(number int) *Python {
	s := p.slot(number)
	if s == nil {
		return nil
	}
	for {
		select {
		case r := <-s.pythons:
			if r.IsAlive() {
				return r
			}
			r.Stop()
		default:
			return nil
		}
	}
}

func sleepContext(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
