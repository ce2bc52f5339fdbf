package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limits in Outcome.ExceededLimit.
const (
	exceededWallTime = "wall"
	exceededCPU      = "cpu"
	exceededFileSize = "file size"
	exceededOutput   = "output"
)

// causeCancelled is the cause if ctx ended the run.
const causeCancelled = "cancelled"

// killTimeout limits the wait for killed processes that make no progress: one that hangs in a driver never ends. A
// program can choose how much the kernel must free or read, such as millions of files or locks: dyingTimeout limits the
// wait while the kernel does.
const killTimeout, dyingTimeout = 10 * time.Second, 5 * time.Minute

// supervise waits for the end of a run, or kills it, and cleans up.
func (p *Process) supervise(ctx context.Context) {
	defer close(p.done)
	cause := p.waitOrCause(ctx)
	wallTime := time.Since(p.startedAt)
	if !p.killAll() {
		// While a process hangs, the stream readers and waitForProcess keep running, and the slot is retired.
		p.err = p.leaveStuck()
		return
	}
	// After killAll, bubblewrap has no child left and exits, or it was killed, so this returns soon.
	<-p.exited
	p.reapInit()
	p.readRemainingOutput()
	p.outcome, p.err = p.readOutcome(cause)
	p.outcome.WallTime = wallTime
	p.err = errors.Join(p.err, p.removeRun())
}

// waitOrCause waits for the end of the program and returns "", or the cause if the run must be killed.
func (p *Process) waitOrCause(ctx context.Context) string {
	defer p.wallTimer.Stop()
	// The kernel does not kill a process when the group reaches its process limit, so this loop detects a fork bomb
	// within a tenth of a second.
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-p.exited:
			return ""
		case <-ctx.Done():
			return causeCancelled
		case <-p.wallTimer.C:
			return exceededWallTime
		case <-p.outputMeter.limitExceeded:
			return exceededOutput
		case <-poll.C:
			if limit := p.controlGroup.ExceededLimit(); limit != "" {
				return limit
			}
		}
	}
}

// killAll kills every process of the run and returns true when none is left, or false if one hangs. The death of PID 1
// ends all processes of its namespace and becomes visible only after theirs. Killing the cgroup is an independent second
// way.
func (p *Process) killAll() bool {
	begun := time.Now()
	if p.pidfd >= 0 {
		_ = unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
	}
	if p.unsandboxed || p.pidfd < 0 {
		_ = unix.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
	deadline, progress := begun.Add(killTimeout), ""
	for p.pidfd >= 0 && !p.waitUntilDead(earlier(deadline, time.Now().Add(time.Second))) {
		if now := p.controlGroup.progress(); now != progress && time.Since(begun) < dyingTimeout {
			deadline, progress = time.Now().Add(killTimeout), now
		}
		if time.Now().After(deadline) {
			return false
		}
	}
	return p.controlGroup.Kill(time.Now().Add(killTimeout))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// leaveStuck cleans up after a process that hangs, and returns a StuckProcessError. The rest is removed when it ends.
func (p *Process) leaveStuck() error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for p.pidfd >= 0 && !p.waitUntilDead(time.Now().Add(time.Hour)) {
		}
		for !p.controlGroup.Kill(time.Now().Add(time.Minute)) {
		}
		p.reapInit()
		_ = p.removeRun() // the next server removes what is left
	}()
	return &StuckProcessError{Ended: ended, processes: fmt.Sprintf("process %d of slot %d", p.pid, p.spec.SandboxSlot)}
}

// waitUntilDead waits for the end of the run's first process, and reports whether it ended before the deadline.
func (p *Process) waitUntilDead(deadline time.Time) bool { return waitForExit(p.pidfd, deadline) }

// waitForExit waits for the end of a process, and reports whether it ended before the deadline.
func waitForExit(pidfd int, deadline time.Time) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, max(0, int(time.Until(deadline).Milliseconds())))
		if err == unix.EINTR {
			continue
		}
		return n > 0
	}
}

// reapInit reaps the run's first process if it became a child of this server (setSubreaper), because bubblewrap ended
// before it. Otherwise it does nothing.
func (p *Process) reapInit() {
	if !p.unsandboxed && p.pidfd >= 0 {
		_ = unix.Waitid(unix.P_PIDFD, p.pidfd, nil, unix.WEXITED|unix.WNOHANG, nil)
	}
}

// readRemainingOutput reads the remaining output. All writers have ended, except that without a sandbox a daemon may
// hold the pipes open.
func (p *Process) readRemainingOutput() {
	if p.unsandboxed {
		for _, stream := range p.outputPipes {
			_ = stream.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		}
	}
	p.streamReaders.Wait()
}

// removeRun removes everything of an ended run from the machine.
func (p *Process) removeRun() error {
	closeAll([]*os.File{p.startGate, p.statusPipe})
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
	err := p.controlGroup.Remove()
	if p.runArea != nil {
		err = errors.Join(err, p.runArea.remove())
	}
	return err
}
