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

// probeCommand, as the first argument of this program, makes it look at the sandbox from inside.
const probeCommand = "sandbox-probe"

// The self-test needs a program inside that makes system calls of its choice. The one program
// that is surely there is this one, whatever it is otherwise: a server or a test of any package.
// So the probe is found here and not by each main function.
// It ends without what else ends a Go program: a race detector would wait a second for races.
func init() {
	if len(os.Args) != 4 || os.Args[1] != probeCommand {
		return
	}
	if err := json.NewEncoder(os.Stdout).Encode(probe(os.Args[2], strings.Fields(os.Args[3]))); err != nil {
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// report is what the probe saw. Attempts are named by what was tried and hold the error; an empty
// string is a success, which the sandbox must not allow.
type report struct {
	Status   map[string]string // of /proc/self/status
	Attempts map[string]string
	Calls    map[string]string // system calls that the filter names
	Env      []string          // names of variables

	listeners []string // attempts to connect to the server
}

func probe(secret string, listeners []string) report {
	r := report{Status: statusFields("/proc/self/status"), Calls: map[string]string{}}
	r.Attempts = map[string]string{
		"core_pattern": open("/proc/sys/kernel/core_pattern", os.O_WRONLY),
		"shadow":       open("/etc/shadow", os.O_RDONLY),
		"passwd":       open("/etc/passwd", os.O_RDONLY),
		"secret":       open(secret, os.O_RDONLY),
		"root":         open("/planted", os.O_WRONLY|os.O_CREATE),
		"usr":          open("/usr/planted", os.O_WRONLY|os.O_CREATE),
		"dev":          open("/dev/planted", os.O_WRONLY|os.O_CREATE),
		"in":           open("/in/planted", os.O_WRONLY|os.O_CREATE),
		"init":         open("/proc/1/mem", os.O_RDWR),
	}
	for _, address := range listeners {
		r.Attempts[dialing(address)] = dial(address)
	}
	for _, call := range deniedCalls() {
		r.Calls[call.name] = try(uintptr(call.number), 0)
	}
	r.Calls["socket(AF_VSOCK)"] = try(unix.SYS_SOCKET, unix.AF_VSOCK)
	r.Calls["socket(AF_ALG)"] = try(unix.SYS_SOCKET, unix.AF_ALG)
	r.Calls["prctl(PR_SET_SECCOMP)"] = try(unix.SYS_PRCTL, unix.PR_SET_SECCOMP)
	r.Calls["clone(CLONE_NEWUSER)"] = tryClone(unix.CLONE_NEWUSER)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		r.Env = append(r.Env, name)
	}
	return r
}

func open(path string, flags int) string {
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err.Error()
	}
	file.Close()
	return ""
}

func dialing(address string) string { return "connection to " + address }

func dial(address string) string {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err.Error()
	}
	conn.Close()
	return ""
}

// try makes a system call with arguments that do no harm if it should be let through.
func try(number, first uintptr) string {
	if _, _, errno := unix.RawSyscall(number, first, 0, 0); errno != 0 {
		return unix.ErrnoName(errno)
	}
	return ""
}

func tryClone(flags uintptr) string {
	// Nothing of Go may run in the child: it has one thread of many, and whatever lock was held stays so.
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags|uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	if errno != 0 {
		return unix.ErrnoName(errno)
	}
	return ""
}

// statusFields reads a process's status file.
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
