package evaluator

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// count is how many units of a device are in service.
func (w *Worker) count(device string) int { return len(w.inService(device)) }

func (w *Worker) inService(device string) []*slot {
	var out []*slot
	for _, s := range w.slots {
		if s.Device == device && s.service.Err() == nil {
			out = append(out, s)
		}
	}
	return out
}

// hold takes the job's own slot, or another of its device that is idle while that is busy. A job that
// needs n slots gets the first n of its device. They are always taken in the same order, so that no
// two jobs wait for each other.
func (w *Worker) hold(ctx context.Context, own *slot, n int, attemptID string) (held []*slot, release func(), err error) {
	want := []*slot{own}
	if n > 1 {
		want = w.inService(own.Device)
		want = want[:min(n, len(want))]
	}
	if len(want) == 0 {
		return nil, nil, errOutOfService
	}
	if n <= 1 {
		for _, s := range append(want, w.inService(own.Device)...) {
			if s.holdIdle(attemptID) {
				return []*slot{s}, s.release, nil
			}
		}
	}
	release = func() {
		for _, s := range slices.Backward(held) {
			s.release()
		}
	}
	for _, s := range want {
		if err := s.hold(ctx, attemptID); err != nil {
			release()
			return nil, nil, err
		}
		held = append(held, s)
	}
	return held, release, nil
}

// examine checks the units after something failed on them, before anything else runs there: a
// fault can outlive the program that made it. It reports whether all of them work.
func (w *Worker) examine(ctx context.Context, held []*slot) (working bool) {
	if w.cfg.Probe == nil {
		return true
	}
	working = true
	for _, s := range held {
		probing, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
		err := w.cfg.Probe(probing, s.Slot)
		cancel()
		if err != nil {
			s.retire(fmt.Errorf("its unit failed the check after a failed run: %w", err))
			working = false
		}
	}
	return working
}

// machine describes the slot's unit, and what jobs in these languages are built and run with.
func (w *Worker) machine(s device.Slot, langs ...tasks.Lang) job.Machine {
	m := job.Machine{
		Worker:   w.cfg.Name,
		Device:   s.Device,
		Name:     s.Name,
		UUIDHash: s.UUIDHash,
		Driver:   s.Driver,
		CUDA:     s.CUDA,
		Kernel:   kernelRelease(),
		Sandbox:  w.cfg.Sandbox.Name(),
	}
	for _, lang := range langs {
		w.cfg.Tools.Describe(lang, &m)
	}
	return m
}

// langs are the languages of a slot's tasks, the one that names its compiler last.
func langs(s device.Slot) []tasks.Lang {
	if s.IsGPU() {
		return []tasks.Lang{tasks.LangPython, tasks.LangCUDA}
	}
	return []tasks.Lang{tasks.LangPython, tasks.LangCPP}
}

// kernelRelease is what `uname -r` prints.
func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
