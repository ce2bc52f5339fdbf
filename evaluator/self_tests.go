package evaluator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"warpboard/evaluator/job"
	"warpboard/evaluator/selftest"
	"warpboard/evaluator/slots"
)

// SelfTestConfig configures the self-tests of slots: small programs that a slot compiles and runs before it accepts
// jobs.
type SelfTestConfig struct {
	// FirstRetryPause is the pause after a failed test, which doubles each time. 0 disables the tests, and retired
	// slots stay retired.
	FirstRetryPause time.Duration
	MaxRetryPause   time.Duration // upper limit of the pause
	DelayIfPassed   time.Duration // delay of the test, on an idle slot, if it passed before with the same software
	PassRecord      selftest.PassRecord
	FreeSpaceDir    string // directory on the disk that must have MinFreeBytes bytes free
	MinFreeBytes    uint64
}

// keepSlotInService calls use, which accepts jobs for the slot, whenever the slot's tests have passed. It returns when
// ctx ends or use returns an error.
//
// States of a slot: in service; retired (by a job's check, three faults, or a failed test); under test
// (testUntilPassed), which leads to one of the others. Only this goroutine returns a slot to service; any job may call
// Retire at any time. A slot with a process that cannot be killed stays retired until the process has ended.
func (w *Worker) keepSlotInService(ctx context.Context, s *slots.Slot,
	use func(context.Context, *slots.Slot) error) error {
	check := w.cfg.SelfTest
	pause := backoff{check.FirstRetryPause, check.MaxRetryPause, check.FirstRetryPause}
	var later sync.WaitGroup
	defer later.Wait()
	beside, stop := context.WithCancel(ctx)
	defer stop()
	if w.slotPassedBefore(s) {
		later.Go(func() { w.retestPassedSlot(beside, s) })
	} else if check.FirstRetryPause > 0 && !w.testUntilPassed(ctx, s, &pause) {
		return nil
	}
	for {
		began := time.Now()
		if err := use(ctx, s); err != nil || ctx.Err() != nil {
			return err
		}
		w.log.Error("slot out of service", "slot", s.Index, "device", s.Device, "err",
			context.Cause(s.ServiceContext()))
		if check.FirstRetryPause == 0 {
			<-ctx.Done()
			return nil
		}
		if !s.WaitForStuckProcess(ctx) {
			return nil
		}
		// If the slot worked for long, pauses are short again. A slot that fails soon after it returned to service
		// waits longer each time.
		if time.Since(began) > check.MaxRetryPause {
			pause.reset()
		}
		if !pause.wait(ctx) || !w.testUntilPassed(ctx, s, &pause) {
			return nil
		}
		w.log.Info("slot in service again", "slot", s.Index, "device", s.Device)
	}
}

// testUntilPassed tests a slot until it passes. It returns false if ctx ended first.
func (w *Worker) testUntilPassed(ctx context.Context, s *slots.Slot, pause *backoff) bool {
	for {
		// StartChecks gives the slot a new ServiceContext, so that tests can use it. Jobs can use it only after
		// ReturnToService.
		s.StartChecks()
		err := w.testSlot(ctx, s)
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			s.ReturnToService()
			return true
		}
		s.Retire(err)
		w.log.Error("a slot failed its self-test and takes no jobs", "slot", s.Index, "device", s.Device, "err", err)
		if !s.WaitForStuckProcess(ctx) || !pause.wait(ctx) {
			return false
		}
	}
}

// slotPassedBefore reports whether a slot passed its tests earlier with the same software, and shows that on the page
// of devices.
func (w *Worker) slotPassedBefore(s *slots.Slot) bool {
	since := w.cfg.SelfTest.PassRecord.PassedAt(w.passRecordKey(s))
	// The record is for the same software on the same device. It does not detect a device that broke since;
	// retestPassedSlot does.
	if since.IsZero() || w.checkFreeDisk() != nil {
		return false
	}
	programs, err := selftest.Programs(s.Slot, w.cfg.Toolchain)
	if err != nil {
		return false
	}
	for _, p := range programs {
		w.testResults.recordSlot(p.Name, s.Slot, nil, "Passed at "+since.UTC().Format(time.RFC3339)+" with the same software; tested again while the slot is idle")
	}
	return true
}

// retestPassedSlot tests a slot that is in service because of an earlier pass.
func (w *Worker) retestPassedSlot(ctx context.Context, s *slots.Slot) {
	if !sleepContext(ctx, w.cfg.SelfTest.DelayIfPassed) {
		return
	}
	// An arriving job interrupts the test, and the gate repeats it when the worker is idle. On a worker that is never
	// idle it may never complete; then failing jobs retire the slot.
	err := w.idleScheduler.RunWhenIdle(ctx, precompileKey(selftest.TaskKey, s.Device), func(ctx context.Context) error { return w.testSlot(ctx, s) })
	if err != nil && ctx.Err() == nil {
		s.Retire(err)
	}
}

func (w *Worker) passRecordKey(s *slots.Slot) string {
	return selftest.Key("slot", w.slots.DescribeAll(s))
}

// testSlot compiles and runs the test programs. They are compiled concurrently and run one after the other.
func (w *Worker) testSlot(ctx context.Context, s *slots.Slot) error {
	if err := w.checkFreeDisk(); err != nil {
		return slots.WithPublicReason("its machine has too little free disk space", err)
	}
	programs, err := selftest.Programs(s.Slot, w.cfg.Toolchain)
	if err != nil {
		return slots.WithPublicReason("its self-test could not be run", err)
	}
	failed := make([]error, len(programs))
	var together errgroup.Group
	for i, p := range programs {
		together.Go(func() error {
			began := time.Now()
			failed[i] = w.testProgram(ctx, s, p)
			if ctx.Err() == nil {
				w.testResults.recordSlot(p.Name, s.Slot, failed[i], fmt.Sprintf("A small test program compiled and ran in %s", time.Since(began).Round(10*time.Millisecond)))
			}
			return nil
		})
	}
	// The errors are in failed, which has one element per program, so no lock is needed.
	_ = together.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err = joinProgramErrors(programs, failed)
	if noted := w.cfg.SelfTest.PassRecord.Record(w.passRecordKey(s), err == nil); noted != nil {
		w.log.Warn("the next start tests again", "err", noted)
	}
	return err
}

// joinProgramErrors joins the errors with the names of the programs that failed.
func joinProgramErrors(programs []selftest.Program, failed []error) error {
	var names []string
	for i, err := range failed {
		if err != nil {
			names = append(names, programs[i].Name)
		}
	}
	return slots.WithPublicReason("it failed its self-test ("+strings.Join(names, ", ")+")", errors.Join(failed...))
}

// maxTestProgramRuns limits the runs of a test program whose clocks disagree, for which a busy machine may be the
// cause. Other failures are not retried, because they repeat.
const maxTestProgramRuns = 3

func (w *Worker) testProgram(ctx context.Context, s *slots.Slot, p selftest.Program) (err error) {
	for range maxTestProgramRuns {
		var result job.Result
		result, err = w.runAttempt(ctx, NopConn{}, s, nil, p.Job)
		if err = p.Error(result, err); err == nil || result.Outcome != job.OutcomePassed {
			return err
		}
	}
	return err
}

// checkFreeDisk returns an error if the disk has too little free space, and stores the result for the page of devices.
func (w *Worker) checkFreeDisk() error {
	c := w.cfg.SelfTest
	if c.FreeSpaceDir == "" || c.MinFreeBytes == 0 {
		return nil
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(c.FreeSpaceDir, &fs); err != nil {
		return fmt.Errorf("disk: the free space of %s is unknown: %w", c.FreeSpaceDir, err)
	}
	free := fs.Bavail * uint64(fs.Bsize)
	var err error
	if free < c.MinFreeBytes {
		err = fmt.Errorf("disk: %s has %d MiB free and needs %d MiB. Free some space there", c.FreeSpaceDir, free>>20, c.MinFreeBytes>>20)
	}
	w.testResults.recordMachine("disk", err, fmt.Sprintf("%d MiB free", free>>20))
	return err
}

// backoff is a pause that doubles with each wait.
type backoff struct{ initialDelay, maxDelay, nextDelay time.Duration }

func (b *backoff) reset() { b.nextDelay = b.initialDelay }

// wait pauses. It returns false if ctx ended first.
func (b *backoff) wait(ctx context.Context) bool {
	pause := b.nextDelay
	b.nextDelay = min(2*b.nextDelay, b.maxDelay)
	return sleepContext(ctx, pause)
}

func sleepContext(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
