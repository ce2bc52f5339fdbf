package toolchain

import (
	"strings"
	"testing"
	"time"

	"warpboard/internal/test/tier"
)

// reportFunction is the code with which a bundle's own program reports its findings to a test.
const reportFunction = `
def report(*found):
    import os
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
        print(*found, file=pipe)
        print("check: pass", file=pipe)
`

// carriers lists programs that try to pass a word from one stage to the next. In every stage, such a program reports
// the words that it finds, and leaves its own.
var carriers = []struct{ name, program string }{
	{"System V shared memory", `
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
def find():
    at = libc.shmat(libc.shmget(4711, 4096, 0o600), None, 0)
    return "" if at in (None, 2**64 - 1) else ctypes.string_at(at).decode()
def leave():
    at = libc.shmat(libc.shmget(4711, 4096, 0o1600), None, 0)
    if at not in (None, 2**64 - 1): ctypes.memmove(at, b"word", 5)
`},
	{"System V semaphores", `
import ctypes
libc = ctypes.CDLL(None)
def find(): return "word" if libc.semget(4711, 1, 0) >= 0 else ""
def leave(): libc.semget(4711, 1, 0o1600)
`},
	{"System V queues", `
import ctypes
libc = ctypes.CDLL(None)
def find(): return "word" if libc.msgget(4711, 0) >= 0 else ""
def leave(): libc.msgget(4711, 0o1600)
`},
	{"POSIX queues", `
import ctypes, os
libc = ctypes.CDLL(None)
def find(): return "word" if libc.mq_open(b"/word", os.O_RDWR) >= 0 else ""
def leave(): libc.mq_open(b"/word", os.O_RDWR | os.O_CREAT, 0o600, None)
`},
	{"the folder of the caches", `
def find():
    try: return open("/tmp/cache/word").read()
    except OSError: return ""
def leave(): open("/tmp/cache/word", "w").write("word")
`},
	{"a kernel that was compiled", `
import os
place = os.path.join(os.environ["TRITON_CACHE_DIR"], "KEY", "kernel.cubin")
def find():
    try: return open(place).read()
    except OSError: return ""
def leave():
    os.makedirs(os.path.dirname(place))
    open(place, "w").write("word")
`},
	{"an extension that was compiled", `
import os
place = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "mine", "mine.so")
def find():
    try: return open(place).read()
    except OSError: return ""
def leave():
    os.makedirs(os.path.dirname(place))
    open(place, "w").write("word")
`},
	{"a folder that no one may read", `
import os
def find():
    try:
        os.chmod("/tmp/closed", 0o700)
        return open("/tmp/closed/word").read()
    except OSError: return ""
def leave():
    os.mkdir("/tmp/closed")
    open("/tmp/closed/word", "w").write("word")
    os.chmod("/tmp/closed", 0)
`},
	{"an attribute of a folder", `
import os
def find():
    found = ""
    for place in ("/tmp", "/out", "/dev/shm"):
        try: found += os.getxattr(place, "user.word").decode()
        except OSError: pass
    return found
def leave():
    for place in ("/tmp", "/out", "/dev/shm"):
        try: os.setxattr(place, "user.word", b"word")
        except OSError: pass
`},
	{"a folder's times", `
import os
def find(): return "".join("word" for place in ("/tmp", "/out", "/dev/shm") if os.stat(place).st_mtime_ns == 4711)
def leave():
    for place in ("/tmp", "/out", "/dev/shm"): os.utime(place, ns=(4711, 4711))
`},
	{"a folder's permissions", `
import os
def find(): return "".join("word" for place in ("/tmp", "/out", "/dev/shm") if os.stat(place).st_mode & 0o022)
def leave():
    for place in ("/tmp", "/out", "/dev/shm"): os.chmod(place, 0o733)
`},
	{"limits of the process that forks the stages", `
import os, resource
def find(): return "word" if resource.getrlimit(resource.RLIMIT_CORE)[0] == 4711 or resource.getrlimit(resource.RLIMIT_STACK)[0] == 4711 << 12 else ""
def leave(): resource.prlimit(os.getppid(), resource.RLIMIT_STACK, (4711 << 12, resource.getrlimit(resource.RLIMIT_STACK)[1]))
`},
	{"the priority of the process that forks the stages", `
import os
def find(): return "word" if os.nice(0) == 7 else ""
def leave(): os.setpriority(os.PRIO_PROCESS, os.getppid(), 7)
`},
	{"the scheduling of the process that forks the stages", `
import os
def find(): return "word" if os.sched_getscheduler(0) == os.SCHED_BATCH else ""
def leave(): os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))
`},
	{"the priority of the session in which the stages are forked", `
name = "/proc/self/autogroup"
def find():
    try: return "word" if open(name).read().endswith(" nice 13\n") else ""
    except OSError: return ""
def leave():
    try: open(name, "w").write("13")
    except OSError: pass
`},
	{"a process behind an abstract socket", `
import os, socket
def find():
    try:
        end = socket.socket(socket.AF_UNIX)
        end.connect("\0word")
        return end.recv(4).decode()
    except OSError: return ""
def leave():
    ready, done = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(5):
                if fd != done: os.close(fd)
            end = socket.socket(socket.AF_UNIX)
            end.bind("\0word")
            end.listen()
            os.close(done)
            while True: end.accept()[0].send(b"word")
        os._exit(0)
    os.close(done)
    os.read(ready, 1)
`},
	{"the times of the terminals' folder", `
import os
def find(): return "word" if os.stat("/dev/pts").st_mtime_ns == 4711 else ""
def leave():
    try: os.utime("/dev/pts", ns=(4711, 4711))
    except OSError: pass
`},
	{"the mode of the terminals' multiplexer", `
import os
def find(): return "word" if os.stat("/dev/pts/ptmx").st_mode & 0o777 == 0o123 else ""
def leave():
    try: os.chmod("/dev/pts/ptmx", 0o123)
    except OSError: pass
`},
	{"a setting of the kernel", `
name = "/proc/sys/kernel/shmmni"
def find(): return "word" if open(name).read() == "4711\n" else ""
def leave():
    try: open(name, "w").write("4711")
    except OSError: pass
`},
	{"a key", `
import ctypes
libc = ctypes.CDLL(None)
def find(): return "word" if libc.syscall(249, b"user", b"word", None, 0) > 0 else ""
def leave(): libc.syscall(248, b"user", b"word", b"word", 4, -3)
`},
	{"a descriptor", `
import os, stat
def find():
    kinds = []
    for fd in range(4, 1024):
        try: kinds.append(stat.S_IFMT(os.fstat(fd).st_mode))
        except OSError: pass
    return "word" * len(kinds)
def leave(): pass
`},
}

func TestNoMessageOfAStageReachesTheNext(t *testing.T) {
	tier.Needs(t, tier.Judge)
	b := newBuilder()
	at := cpu()
	at.DeviceNodes = []string{"/dev/null"} // with device nodes, the sandbox mounts /proc, as on a GPU
	turns := newTurns(t, b, at)
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			a, _ := mustBuild(t, b, bundle(c.program+reportFunction+"found = find()\nleave()\nreport('found', repr(found))\n"))
			p := turns.open(t, a)
			for stage := range 2 {
				if got := output(t, p); got != "found ''\ncheck: pass\n" {
					t.Errorf("stage %d: got %q", stage, got)
				}
			}
		})
	}
}

// output returns what a stage of a bundle's own program wrote into its pipe.
func output(t *testing.T, p Program) string {
	t.Helper()
	var pipe strings.Builder
	out, err := p.RunStage(t.Context(), StageRequest{
		Mode:         "test",
		Timeout:      time.Minute,
		OnResultPipe: func(b []byte) { pipe.Write(b) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.ExitCode != 0 {
		t.Errorf("exit code %d, %s: %s", out.ExitCode, out.ExceededLimit, out.Stderr)
	}
	return pipe.String()
}
