package toolchain

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// shelf holds the warm runners of one slot.
type shelf struct {
	place   Place
	runners chan *runner
	failing atomic.Bool // the last one could not be started: do not wait for the next
}

// takePatience is how long a job waits for a runner that is still importing; importing torch with
// cold files takes this long.
const takePatience = 20 * time.Second

func (b *Builder) shelf(slot int) *shelf {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shelves[slot]
}

// KeepWarm keeps n warm Pythons ready at a place until ctx ends; Open takes them. Each is used for
// one job. On CPU the next is started when the taken one has ended, for its imports would disturb
// what is being timed.
func (b *Builder) KeepWarm(ctx context.Context, place Place, n int) error {
	if b.cfg.Tools.Python == nil || n < 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	s := &shelf{place: place, runners: make(chan *runner)}
	b.mu.Lock()
	b.shelves[place.Slot] = s
	b.mu.Unlock()
	defer b.clearShelf(place.Slot, s)
	if place.Arch == "" {
		n = 1 // one at a time: see above
	}
	var keepers sync.WaitGroup
	for range n {
		keepers.Go(func() { b.keepOne(ctx, s) })
	}
	keepers.Wait()
	return ctx.Err()
}

// keepOne offers one runner after another until ctx ends.
func (b *Builder) keepOne(ctx context.Context, s *shelf) {
	place := s.place
	for pause := time.Second; ctx.Err() == nil; {
		r, err := b.warmRunner(ctx, place)
		s.failing.Store(err != nil)
		if err != nil {
			b.cfg.Log.Warn("no warm Python", "slot", place.Slot, "err", err, "again_in", pause)
			sleep(ctx, pause)
			pause = min(2*pause, time.Minute)
			continue
		}
		pause = time.Second
		s.offer(ctx, r, place.Arch == "")
	}
}

// offer puts a runner on the shelf; wait holds until it is used up.
func (s *shelf) offer(ctx context.Context, r *runner, wait bool) {
	select {
	case s.runners <- r:
	case <-r.done: // died idle
		r.stop()
		return
	case <-ctx.Done():
		r.stop()
		return
	}
	if !wait {
		return
	}
	select {
	case <-r.done:
	case <-ctx.Done():
	}
}

// clearShelf takes the shelf away; nothing is left on it, for runners are handed over.
func (b *Builder) clearShelf(slot int, s *shelf) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shelves[slot] == s {
		delete(b.shelves, slot)
	}
}

// readyPatience bounds a runner's imports.
const readyPatience = 2 * time.Minute

// warmRunner starts a runner and waits for its imports, no longer than ctx. The runner outlives ctx:
// who has it must stop it.
func (b *Builder) warmRunner(ctx context.Context, place Place) (*runner, error) {
	r, err := b.startRunner(context.WithoutCancel(ctx), place)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	defer context.AfterFunc(ctx, r.kill)()
	if err := r.ready(); err != nil {
		return nil, err
	}
	return r, nil
}

// take returns a runner that waits at the place, nil when none is to be had. A job of a task for several
// GPUs finds none there: its runner sees more devices, and may ask for its interfaces.
func (b *Builder) take(ctx context.Context, place Place) *runner {
	s := b.shelf(place.Slot)
	if s == nil || !slices.Equal(s.place.Device, place.Device) || s.place.GPUs != place.GPUs {
		return nil
	}
	patience := time.NewTimer(takePatience)
	defer patience.Stop()
	if s.failing.Load() {
		patience.Reset(0)
	}
	for {
		select {
		case r := <-s.runners:
			if r.alive() {
				return r
			}
			r.stop()
		case <-patience.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// OpenReady opens a Python artifact in a runner that waits at the place; nil when none does.
func (b *Builder) OpenReady(a *Artifact, place Place) Program {
	s := b.shelf(place.Slot)
	if s == nil {
		return nil
	}
	select {
	case r := <-s.runners:
		return &pythonProgram{builder: b, place: place, artifact: a, runner: r, warm: true}
	default:
		return nil
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
