package sandbox

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/sandbox/cgroup"
)

// notExecutable is the exit code of a run whose program is not there or cannot be executed, as
// shells have it; its stderr says so.
const notExecutable = 127

// conclude says how a dead run ended and reads its outputs.
func (p *Process) conclude(cause string) (Outcome, error) {
	u := p.group.Usage()
	o := Outcome{
		ExitCode: -1, Cancelled: cause == cancelled, MemoryMax: u.MemoryMax,
		Stdout: p.stdout.String(), Stderr: p.stderr.String(),
	}
	if p.state != nil {
		o.CPU = p.state.UserTime() + p.state.SystemTime()
		if rusage, ok := p.state.SysUsage().(*syscall.Rusage); ok && o.MemoryMax == 0 {
			o.MemoryMax = rusage.Maxrss << 10
		}
	}
	code, ended := p.exitCode()
	switch {
	case cause == "" && ended:
		o.ExitCode, o.Signal = code, signalOf(code)
	// A program could print that itself and have bubblewrap killed; it gains the exit code 127 by it.
	case cause == "" && strings.HasPrefix(o.Stderr, "bwrap: execvp"):
		o.ExitCode = notExecutable
	case cause == "" && u.OOMKills == 0:
		return o, fmt.Errorf("the sandbox ended without its program: %s", strings.TrimSpace(o.Stderr))
	default:
		o.Signal = "SIGKILL"
	}
	o.Limit = p.limit(cause, o, u)
	o.Files, o.Refused = collect(p.area.outDir, p.spec.Collect)
	return o, nil
}

// exitCode is the program's, with 128+n for signal n. There is none when bubblewrap was killed, or
// did not come so far as to start the program.
func (p *Process) exitCode() (int, bool) {
	if p.state == nil {
		return 0, false
	}
	if p.status == nil {
		status, ok := p.state.Sys().(syscall.WaitStatus)
		if ok && status.Signaled() {
			return 128 + int(status.Signal()), true
		}
		return p.state.ExitCode(), true
	}
	var message struct {
		Code *int `json:"exit-code"`
	}
	if err := p.status.Decode(&message); err != nil || message.Code == nil {
		return 0, false
	}
	return *message.Code, true
}

// signalOf is the name of the signal that an exit code of a shell stands for, or "".
func signalOf(code int) string {
	if code <= 128 {
		return ""
	}
	return unix.SignalName(syscall.Signal(code - 128))
}

// limit is the limit that ended the run, or that made it fail, or "". What the kernel counted goes
// before the clock: a bomb that was contained until its time was up is still a bomb.
func (p *Process) limit(cause string, o Outcome, u cgroup.Usage) string {
	failed := o.ExitCode != 0
	switch {
	case cause == cancelled:
		return ""
	case cause == limitOutput:
		return limitOutput
	case u.OOMKills > 0:
		return limitMemory
	// Only of a run that failed: programs that try for more threads and go on with fewer are well.
	case failed && u.RefusedForks > 0:
		return limitProcesses
	case o.Signal == "SIGXCPU", failed && cause == "" && p.usedUp(o.CPU):
		return limitCPU
	case o.Signal == "SIGXFSZ", failed && p.area.full():
		return limitFileSize
	}
	return cause
}

func (p *Process) usedUp(cpu time.Duration) bool {
	return p.spec.Limits.CPU > 0 && cpu >= p.spec.Limits.CPU
}
