package sandbox

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exitNotExecutable is the exit code, as in shells, for a program that is missing or not executable. stderr has the
// reason.
const exitNotExecutable = 127

// readOutcome returns the outcome of an ended run and reads its output files.
func (p *Process) readOutcome(cause string) (Outcome, error) {
	u := p.controlGroup.Usage()
	o := Outcome{
		ExitCode: -1, Cancelled: cause == causeCancelled, MemoryPeak: u.MemoryPeak,
		Stdout: p.stdout.String(), Stderr: p.stderr.String(),
	}
	if p.processState != nil {
		o.CPU = p.processState.UserTime() + p.processState.SystemTime()
		if rusage, ok := p.processState.SysUsage().(*syscall.Rusage); ok && o.MemoryPeak == 0 {
			o.MemoryPeak = rusage.Maxrss << 10
		}
	}
	if u.OOMKills > 0 && !u.LimitReached {
		o.Signal, o.ExceededLimit = "SIGKILL", ExceededMemory
		return o, ErrMachineMemory
	}
	code, ended := p.exitCode()
	switch {
	case cause == "" && ended:
		o.ExitCode, o.Signal = code, signalOfExitCode(code)
	// A program could print this text and have bubblewrap killed, but would only get exit code 127.
	case cause == "" && strings.HasPrefix(o.Stderr, "bwrap: execvp"):
		o.ExitCode = exitNotExecutable
	case cause == "" && u.OOMKills == 0:
		return o, fmt.Errorf("the sandbox ended without its program: %s", strings.TrimSpace(o.Stderr))
	default:
		o.Signal = "SIGKILL"
	}
	o.ExceededLimit = p.exceededLimit(cause, o, u)
	o.Files, o.RefusedFiles = readOutputFiles(p.runArea.outDir, p.spec.CollectFiles)
	return o, nil
}

// exitCode returns the program's exit code, with 128+n for signal n. ok is false if bubblewrap was killed, or did not
// start the program.
func (p *Process) exitCode() (int, bool) {
	if p.processState == nil {
		return 0, false
	}
	if p.statusDecoder == nil {
		status, ok := p.processState.Sys().(syscall.WaitStatus)
		if ok && status.Signaled() {
			return 128 + int(status.Signal()), true
		}
		return p.processState.ExitCode(), true
	}
	var message struct {
		Code *int `json:"exit-code"`
	}
	if err := p.statusDecoder.Decode(&message); err != nil || message.Code == nil {
		return 0, false
	}
	return *message.Code, true
}

// signalOfExitCode returns the signal that a shell's exit code represents, or "".
func signalOfExitCode(code int) string {
	if code <= 128 {
		return ""
	}
	return unix.SignalName(syscall.Signal(code - 128))
}

// exceededLimit returns the limit that ended the run or made it fail, or "". The kernel's counters take precedence over
// the clock, so that a fork bomb that ran until the time limit is reported as one.
func (p *Process) exceededLimit(cause string, o Outcome, u GroupUsage) string {
	failed := o.ExitCode != 0
	switch {
	case cause == causeCancelled:
		return ""
	case cause == exceededOutput:
		return exceededOutput
	case u.OOMKills > 0:
		return ExceededMemory
	// Refused forks count only for a failed run, because a program may try to create more threads and continue with
	// fewer.
	case failed && u.RefusedForks > 0:
		return ExceededProcesses
	case o.Signal == "SIGXCPU", failed && cause == "" && p.cpuUsedUp(o.CPU):
		return exceededCPU
	case o.Signal == "SIGXFSZ", failed && p.runArea.isOutDirFull():
		return exceededFileSize
	}
	return cause
}

func (p *Process) cpuUsedUp(cpu time.Duration) bool {
	return p.spec.Limits.CPU > 0 && cpu >= p.spec.Limits.CPU
}
