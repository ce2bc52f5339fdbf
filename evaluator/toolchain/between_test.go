package toolchain

import (
	"strings"
	"testing"
	"time"

	"warpboard/internal/tier"
)

// report is the code with which a bundle's own program reports its findings to a test.
const report = `
def report(*found):
    import os
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
        print(*found, file=pipe)
        print("check: pass", file=pipe)
`

// Each attacker leaves a word in one stage where a later stage might find it. The program does the same in every stage:
// it reports the words that it found, and leaves its own.
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

func TestNoWordOfAStageReachesTheNext(t *testing.T) {
	tier.Needs(t, tier.Judge)
	b := newBuilder()
	turns := newTurns(t, b, cpu())
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) {
			a, _ := mustBuild(t, b, bundle(c.program+report+"found = find()\nleave()\nreport('found', repr(found))\n"))
			p := turns.open(t, a)
			for stage := range 2 {
				if got := said(t, p); got != "found ''\ncheck: pass\n" {
					t.Errorf("stage %d: got %q", stage, got)
				}
			}
		})
	}
}

// said returns what a stage of a bundle's own program wrote into its pipe.
func said(t *testing.T, p Program) string {
	t.Helper()
	var pipe strings.Builder
	out, err := p.RunStage(t.Context(), StageRequest{Mode: "test", Timeout: time.Minute, OnPipe: func(b []byte) { pipe.Write(b) }})
	if err != nil {
		t.Fatal(err)
	}
	if out.ExitCode != 0 {
		t.Errorf("exit code %d, %s: %s", out.ExitCode, out.Limit, out.Stderr)
	}
	return pipe.String()
}

// compilingEval stands for a program whose kernels Triton compiles: it reports those that it finds, and adds one.
// Anything else in the caches is an attacker's.
const compilingEval = report + `
import os
def find():
    return sorted(os.path.relpath(os.path.join(folder, name), "/tmp/cache") for folder, _, names in os.walk("/tmp/cache") for name in names)
before = find()
top = os.path.join(os.environ["TRITON_CACHE_DIR"], f"KEY{len(before)}")
os.makedirs(top)
for name, text in {"kernel.cubin": "cubin", "kernel.json": "{}"}.items():
    with open(os.path.join(top, name), "w") as file: file.write(text)
    os.utime(file.name, ns=(4711, 4711))
os.symlink("/etc/ld.so.cache", os.path.join(top, "link"))
os.link(file.name, "/tmp/cache/hard")
os.unlink(file.name)
os.link("/tmp/cache/hard", file.name)
os.mkfifo(os.path.join(top, "fifo"))
os.makedirs("/tmp/cache/mine")
open("/tmp/cache/mine/word", "w").close()
report(*before)
`

func TestLaterStagesFindWhatTheFirstOneCompiledAndNoMore(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle(compilingEval))
	p := mustOpen(t, b, a)
	const first = "triton/KEY0/kernel.cubin\ncheck: pass\n"
	for stage, want := range []string{"\ncheck: pass\n", first, first} {
		if got := said(t, p); got != want {
			t.Errorf("stage %d found %q, want %q", stage, got, want)
		}
	}
	// The next program in the same Python, of the same caller, finds nothing of it: another kernel could have replaced
	// its own.
	other, _ := mustBuild(t, b, bundle(compilingEval+"# other\n"))
	next := p.Next(other)
	if next == nil {
		t.Fatal("the runner was not handed over")
	}
	t.Cleanup(func() { next.Close() })
	for stage, want := range []string{"\ncheck: pass\n", first, first} {
		if got := said(t, next); got != want {
			t.Errorf("stage %d of the next program found %q, want %q", stage, got, want)
		}
	}
}

// An attacker fills the cache to stop the machine: it is kept up to a bound, and whole or not at all.
func TestACacheThatIsTooLargeIsNotKept(t *testing.T) {
	const eval = report + `
import os
top = os.environ["TRITON_CACHE_DIR"]
found = os.path.isdir(top)
os.makedirs(top, exist_ok=True)
with open(os.path.join(top, "large"), "wb") as file: file.truncate(3 << 30) if SPARSE else None
for n in range(0 if SPARSE else 4097): open(os.path.join(top, str(n)), "w").close()
report(found)
`
	b := newBuilder()
	for _, sparse := range []string{"True", "False"} {
		a, _ := mustBuild(t, b, bundle("SPARSE = "+sparse+"\n"+eval))
		place := cpu()
		place.Run.FileSize, place.Run.Tmp = 4<<30, 4<<30
		p, err := b.Open(t.Context(), a, place)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		for stage := range 2 {
			if got := said(t, p); got != "False\ncheck: pass\n" {
				t.Errorf("sparse %s, stage %d: found %q", sparse, stage, got)
			}
		}
	}
}
