package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a started run.
//
// Order of a run: launch on a dedicated thread (area, cgroup, bubblewrap, openRootProcess, limits, gate), which then
// stays in waitForProcess; supervise in a goroutine; the two stream readers. Closing exited publishes processState, and
// closing done publishes outcome and err; do not read them earlier. The program starts only when the gate is opened,
// with all limits set.
type Process struct {
	spec         Spec
	unsandboxed  bool
	runArea      *runArea
	controlGroup *ControlGroup

	cmd           *exec.Cmd // bubblewrap, or the program itself without a sandbox
	pid           int       // pid 1 of the run's pid namespace, or the program itself
	nice          int       // nice value of a background program
	pidfd         int
	statusDecoder *json.Decoder // decodes statusPipe; nil without a sandbox

	startGate, statusPipe *os.File // the server's ends of the pipes to bubblewrap

	stdout, stderr OutputCapture
	outputPipes    []*os.File
	streamReaders  sync.WaitGroup
	outputMeter    *outputMeter

	startedAt    time.Time
	wallTimer    *time.Timer
	exited       chan struct{} // closed when cmd has ended and processState is set
	processState *os.ProcessState
	done         chan struct{} // closed when outcome and err are set
	outcome      Outcome
	err          error
}

// Start starts a run and returns when its program is about to start. The caller must call Wait. Cancelling ctx kills
// the run.
func (s *Sandbox) Start(ctx context.Context, spec Spec) (*Process, error) {
	h, err := s.setUpOnce()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(spec.Argv) == 0 || len(spec.ExtraFiles) > maxExtraFiles {
		return nil, fmt.Errorf("a run needs a program (%d arguments given) and at most %d extra files (%d given)", len(spec.Argv), maxExtraFiles, len(spec.ExtraFiles))
	}
	p := &Process{
		spec: spec, unsandboxed: s.config.Disabled, outputMeter: newOutputMeter(spec.Limits.OutputBytes), pidfd: -1,
		wallTimer: time.NewTimer(time.Hour), exited: make(chan struct{}), done: make(chan struct{}),
	}
	p.wallTimer.Stop()
	// The thread that starts bubblewrap must outlive it (see runOnNewThread).
	launched := make(chan error)
	runOnNewThread(func() {
		err := p.launch(s, h)
		launched <- err
		if err == nil {
			p.waitForProcess()
		}
	})
	if err := <-launched; err != nil {
		return nil, err
	}
	if spec.OnStarted != nil {
		spec.OnStarted()
	}
	go p.supervise(ctx)
	return p, nil
}

// Wait waits until no process or file of the run is left on the machine, and returns its outcome.
func (p *Process) Wait() (Outcome, error) {
	<-p.done
	return p.outcome, p.err
}

// PID returns the host's PID of a process of the run.
func (p *Process) PID() int { return p.pid }

// waitForProcess waits for the direct child. It runs on the thread that started the child, which must not end before.
func (p *Process) waitForProcess() {
	// After an error processState is nil, which exitCode handles.
	p.processState, _ = p.cmd.Process.Wait()
	close(p.exited)
}

// launch starts the run up to the gate, sets its limits, and opens the gate. It must run on a dedicated thread.
func (p *Process) launch(s *Sandbox, h *hostFeatures) (err error) {
	if p.spec.SandboxSlot >= uidRangeSize {
		return fmt.Errorf("the worker has %d user IDs, and needs another one: give it fewer slots", uidRangeSize)
	}
	name, uid := newRunName(), s.userID(h, p.spec.SandboxSlot)
	p.nice = s.config.BuildNice
	defer func() {
		if err != nil {
			err = errors.Join(err, p.removeRun())
		}
	}()
	if p.runArea, err = s.newRunArea(h, name, uid, &p.spec); err != nil {
		return err
	}
	if h.cgroups != nil {
		if p.controlGroup, err = h.cgroups.NewGroup(name, p.spec.Limits.Memory, p.spec.Limits.Processes); err != nil {
			return err
		}
	}
	if err := p.start(h, name, uid); err != nil {
		return err
	}
	if err := p.openGate(uid); err != nil {
		// bubblewrap may have ended and printed the reason.
		return errors.Join(fmt.Errorf("make the sandbox: %w", err), p.abortStart())
	}
	return nil
}

// openGate sets the limits of the process that waits at the gate, and opens the gate.
func (p *Process) openGate(uid int) error {
	if err := p.openRootProcess(); err != nil {
		return err
	}
	// bubblewrap's child waits at the gate before it forks, so all processes that it creates are in the group.
	if err := errors.Join(p.controlGroup.AddProcess(p.pid), setRealUser(uid),
		setRlimits(p.pid, p.spec.Limits, p.controlGroup)); err != nil {
		return err
	}
	if err := preferToKill(p.pid); err != nil {
		return err
	}
	if p.spec.Limits.IsBackground {
		if err := setBackgroundPriority(p.pid, p.nice); err != nil {
			return err
		}
	}
	p.startedAt = time.Now()
	if p.spec.Limits.WallTime > 0 {
		p.wallTimer.Reset(p.spec.Limits.WallTime)
	}
	_, err := p.startGate.Write([]byte("\n"))
	return err
}

// start starts bubblewrap (or the program) with its descriptors; it then waits at the gate. argv[0] of bubblewrap and
// its child is the run's mark.
func (p *Process) start(h *hostFeatures, mark string, uid int) error {
	d, err := newDescriptors(&p.spec, h.seccompFilters[seccompKind{p.spec.AllowInternetSockets, p.spec.Limits.IsBackground}])
	if err != nil {
		return err
	}
	defer func() { closeAll(d.childFiles) }()
	p.startGate, p.statusPipe = d.gateWriteEnd, d.statusReadEnd
	p.outputPipes = []*os.File{d.stdout, d.stderr}
	cmd := p.startCommand(h, d, mark, uid)
	err = closeOnExec()
	if err == nil && !p.unsandboxed {
		err = d.hideArguments(cmd)
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		closeAll(p.outputPipes)
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p.cmd = cmd
	p.streamReaders.Go(func() { p.stdout.readAll(d.stdout, p.outputMeter, p.spec.OnStdout) })
	p.streamReaders.Go(func() { p.stderr.readAll(d.stderr, p.outputMeter, p.spec.OnStderr) })
	// Ten seconds suffice for bubblewrap's setup on a busy machine. openRootProcess removes the deadline.
	return p.statusPipe.SetReadDeadline(time.Now().Add(10 * time.Second))
}

// startCommand returns the command that starts the run: bubblewrap, or the program itself if the sandbox is off.
func (p *Process) startCommand(h *hostFeatures, d *runDescriptors, mark string, uid int) *exec.Cmd {
	cmd := &exec.Cmd{
		Path: h.bwrapPath, Dir: "/", Env: []string{},
		Stdout: d.childFiles[0], Stderr: d.childFiles[1], ExtraFiles: d.programFiles,
		// A separate session keeps an interrupt at the server's terminal from reaching the run.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if p.spec.Stdin != nil {
		cmd.Stdin = p.spec.Stdin
	}
	if p.unsandboxed {
		cmd.Args, cmd.Env, cmd.Dir = openCommand(&p.spec, p.runArea, d.bwrapDescriptors)
		cmd.Path = cmd.Args[0]
		return cmd
	}
	cmd.Args = append([]string{mark}, bwrapArguments(&p.spec, p.runArea, uid, d.bwrapDescriptors)...)
	p.statusDecoder = json.NewDecoder(d.statusReadEnd)
	if uid >= 0 {
		// bubblewrap must start with the run's user ID: if root started it, it would have the rights of the host's root
		// in the sandbox.
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	return cmd
}

// openRootProcess finds the root of the run's process tree and opens its pidfd.
func (p *Process) openRootProcess() error {
	p.pid = p.cmd.Process.Pid
	if p.statusDecoder != nil {
		var message struct {
			PID int `json:"child-pid"`
		}
		if err := p.statusDecoder.Decode(&message); err != nil || message.PID == 0 {
			return fmt.Errorf("bubblewrap did not tell its child's pid: %w", err)
		}
		p.pid = message.PID
		if err := p.statusPipe.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	var err error
	p.pidfd, err = unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return fmt.Errorf("take hold of the run's first process: %w", err)
	}
	return nil
}

// abortStart ends a run that did not get past the gate, and returns bubblewrap's output as the error.
func (p *Process) abortStart() error {
	if !p.killAll() {
		return ErrProcessStuck
	}
	var err error
	// The state of a killed process is not needed.
	_, _ = p.cmd.Process.Wait()
	p.reapInit()
	p.readRemainingOutput()
	if output := p.stderr.String(); output != "" {
		err = errors.Join(err, errors.New(strings.TrimSpace(output)))
	}
	return err
}
