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

// probeReport is the result of the probe. Attempts maps the name of an attempt to its error. An empty string means that
// the attempt succeeded, which the sandbox must prevent.
type probeReport struct {
	Status   map[string]string // of /proc/self/status
	Attempts map[string]string
	Calls    map[string]string // error names of system calls in the filter
	Env      []string          // names of environment variables

	listeners []string // names of attempts to connect to the server
}

func runProbeInside(secret string, listeners []string) probeReport {
	r := probeReport{Status: statusFields("/proc/self/status"), Calls: map[string]string{}}
	r.Attempts = map[string]string{
		"core_pattern": tryOpen("/proc/sys/kernel/core_pattern", os.O_WRONLY),
		"shadow":       tryOpen("/etc/shadow", os.O_RDONLY),
		"passwd":       tryOpen("/etc/passwd", os.O_RDONLY),
		"secret":       tryOpen(secret, os.O_RDONLY),
		"root":         tryOpen("/planted", os.O_WRONLY|os.O_CREATE),
		"usr":          tryOpen("/usr/planted", os.O_WRONLY|os.O_CREATE),
		"dev":          tryOpen("/dev/planted", os.O_WRONLY|os.O_CREATE),
		"in":           tryOpen("/in/planted", os.O_WRONLY|os.O_CREATE),
		"init":         tryOpen("/proc/1/mem", os.O_RDWR),
	}
	for _, address := range listeners {
		r.Attempts[connectionName(address)] = tryDial(address)
	}
	for _, call := range deniedCalls() {
		r.Calls[call.name] = trySystemCall(uintptr(call.number), 0)
	}
	r.Calls["socket(AF_VSOCK)"] = trySystemCall(unix.SYS_SOCKET, unix.AF_VSOCK)
	r.Calls["socket(AF_ALG)"] = trySystemCall(unix.SYS_SOCKET, unix.AF_ALG)
	r.Calls["prctl(PR_SET_SECCOMP)"] = trySystemCall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP)
	r.Calls["clone(CLONE_NEWUSER)"] = tryClone(unix.CLONE_NEWUSER)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		r.Env = append(r.Env, name)
	}
	return r
}

func tryOpen(path string, flags int) string {
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err.Error()
	}
	file.Close()
	return ""
}

func connectionName(address string) string { return "connection to " + address }

func tryDial(address string) string {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err.Error()
	}
	conn.Close()
	return ""
}

// trySystemCall makes a system call with arguments that are harmless if the call is allowed.
func trySystemCall(number, first uintptr) string {
	if _, _, errno := unix.RawSyscall(number, first, 0, 0); errno != 0 {
		return unix.ErrnoName(errno)
	}
	return ""
}

func tryClone(flags uintptr) string {
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
