package sandbox

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probeCommand is the first argument that makes this program test the sandbox from inside.
const probeCommand = "sandbox-probe"

// init starts the probe of the self-test, which needs a program in the sandbox that makes arbitrary system calls. The
// only program that is always available is this executable, which may be a server or any test, so the probe is not in a
// main function. It exits directly, because a race detector would wait a second at a normal exit.
func init() {
	if len(os.Args) != 4 || os.Args[1] != probeCommand {
		return
	}
	if err := json.NewEncoder(os.Stdout).Encode(runProbeInside(os.Args[2], strings.Fields(os.Args[3]))); err != nil {
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// probeReport is the result of the probe. AttemptErrors maps the name of an attempt to its error. An empty string means
// that the attempt succeeded, which the sandbox must prevent.
type probeReport struct {
	StatusFields  map[string]string // fields of /proc/self/status
	AttemptErrors map[string]string
	CallErrors    map[string]string // error names of system calls in the filter
	Env           []string          // names of environment variables

	listeners []string // names of attempts to connect to the server
}

func runProbeInside(secret string, listeners []string) probeReport {
	r := probeReport{StatusFields: statusFields("/proc/self/status"), CallErrors: map[string]string{}}
	r.AttemptErrors = map[string]string{
		"core_pattern": tryOpenError("/proc/sys/kernel/core_pattern", os.O_WRONLY),
		"shadow":       tryOpenError("/etc/shadow", os.O_RDONLY),
		"passwd":       tryOpenError("/etc/passwd", os.O_RDONLY),
		"secret":       tryOpenError(secret, os.O_RDONLY),
		"root":         tryOpenError("/planted", os.O_WRONLY|os.O_CREATE),
		"usr":          tryOpenError("/usr/planted", os.O_WRONLY|os.O_CREATE),
		"dev":          tryOpenError("/dev/planted", os.O_WRONLY|os.O_CREATE),
		"in":           tryOpenError("/in/planted", os.O_WRONLY|os.O_CREATE),
		"init":         tryOpenError("/proc/1/mem", os.O_RDWR),
	}
	for _, address := range listeners {
		r.AttemptErrors[connectAttemptName(address)] = tryDialError(address)
	}
	for _, call := range deniedSystemCalls() {
		r.CallErrors[call.name] = trySystemCallError(uintptr(call.number), 0)
	}
	r.CallErrors["socket(AF_VSOCK)"] = trySystemCallError(unix.SYS_SOCKET, unix.AF_VSOCK)
	r.CallErrors["socket(AF_ALG)"] = trySystemCallError(unix.SYS_SOCKET, unix.AF_ALG)
	r.CallErrors["prctl(PR_SET_SECCOMP)"] = trySystemCallError(unix.SYS_PRCTL, unix.PR_SET_SECCOMP)
	r.CallErrors["clone(CLONE_NEWUSER)"] = tryCloneError(unix.CLONE_NEWUSER)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		r.Env = append(r.Env, name)
	}
	return r
}

func tryOpenError(path string, flags int) string {
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err.Error()
	}
	file.Close()
	return ""
}

func connectAttemptName(address string) string { return "connection to " + address }

func tryDialError(address string) string {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err.Error()
	}
	conn.Close()
	return ""
}

// trySystemCallError makes a system call that the sandbox should deny, and returns the name of its error, such as
// "EPERM", or "" if the call is allowed. All arguments after first are 0, so that an allowed call does no harm.
func trySystemCallError(number, first uintptr) string {
	if _, _, errno := unix.RawSyscall(number, first, 0, 0); errno != 0 {
		return unix.ErrnoName(errno)
	}
	return ""
}

func tryCloneError(flags uintptr) string {
	// The child must not run Go code: it has one of many threads, and locks held by the others are never released.
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags|uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	if errno != 0 {
		return unix.ErrnoName(errno)
	}
	return ""
}

// statusFields parses a process's status file.
func statusFields(path string) map[string]string {
	fields := map[string]string{}
	b, err := os.ReadFile(path)
	if err != nil {
		fields["error"] = fmt.Sprint(err)
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields
}
