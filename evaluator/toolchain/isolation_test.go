package toolchain

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

// walledReference is the reference of these tests. It puts a word into the judge's folders and memory, and opens a
// socket: targets for an attacker.
const walledReference = `
import os, socket
import numpy as np
WORD = "the judge's " + "own word"
for place in ("/tmp", "/out", "/dev/shm"): open(place + "/word", "w").write(WORD)
door = socket.socket(socket.AF_UNIX)
door.bind("\0judge")
door.listen()
def generate_input(seed): return np.full(4, seed)
def check_implementation(data, output): return bool((data == output).all()), ""
`

// prelude defines helpers for attackers. An attacker calls reached(what) when it has reached a target.
const prelude = `
import ctypes, errno, fcntl, gc, mmap, os, socket, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
def reached(what): raise SystemExit("reached " + str(what))
def refused(what, result, *why):
    if result >= 0 or (why and ctypes.get_errno() not in why): reached(f"{what}: {result}, {errno.errorcode.get(ctypes.get_errno())}")
others = [pid for pid in range(1, 400) if pid != os.getpid()]
def maps(): return [o for o in gc.get_objects() if isinstance(o, mmap.mmap)]
def at(m): return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m)))
def shared():
    """Descriptors of all memory that the judge gave away."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try: name = os.readlink("/proc/self/fd/" + fd)
        except OSError: continue
        if name.startswith("/memfd:") and os.fstat(int(fd)).st_uid != os.geteuid(): found.append(int(fd))  # not the runner's own
    if not found: reached("nothing: the attack found no shared memory")
    return found
def custom_kernel(data):
    attack()
    return data
`

func TestASubmissionDoesNotReachItsJudge(t *testing.T) {
	pass := job.StatusPass
	tests := []struct {
		name, attack string
		status       job.Status
		reason       string
	}{
		{"kills everyone", "os.kill(-1, 9); import time; time.sleep(100)", job.StatusError,
			"The program was killed by SIGKILL"},
		{"kills every pid", "[libc.kill(pid, 9) for pid in others]; import time; time.sleep(100)", job.StatusError,
			"The program was killed by SIGKILL"},
		{"traces", "[refused('ptrace', libc.ptrace(16, pid, 0, 0), errno.EPERM) for pid in others]", pass, ""},
		{"reads memory", "[refused('read', libc.process_vm_readv(pid, 0, 0, 0, 0, 0), errno.EPERM) for pid in others]",
			pass, ""},
		{"writes memory",
			"[refused('write', libc.process_vm_writev(pid, 0, 0, 0, 0, 0), errno.EPERM) for pid in others]", pass, ""},
		{"takes descriptors",
			"[refused('pidfd_getfd', libc.syscall(438, os.pidfd_open(os.getppid()), fd, 0), errno.EPERM) for fd in range(10)]", pass, ""},
		{"opens memory", `
for pid in others:
    for file in ("mem", "maps", "environ", "fd", "root", "cwd"):
        path = f"/proc/{pid}/{file}"
        try: os.listdir(path) if file in ("fd", "root", "cwd") else os.close(os.open(path, os.O_RDWR if file == "mem" else os.O_RDONLY)); reached(path)
        except OSError: pass`, pass, ""},
		{"connects", `
refused("the judge", socket.socket(socket.AF_UNIX).connect_ex("\0judge") * -1)
try: reached(socket.socket(socket.AF_INET))
except PermissionError: pass`, pass, ""},
		{"finds files",
			"[reached(place) for place in ('/tmp', '/out', '/dev/shm', '/tmp/job') if {'word', 'cases.txt'} & set(os.listdir(place))]", pass, ""},
		{"has descriptors", `
kinds = {"/dev/null": 0, "pipe": 0, "socket": 0, "/memfd": 0}
for fd in os.listdir("/proc/self/fd"):
    try: name = os.readlink("/proc/self/fd/" + fd).split(":")[0]
    except OSError: continue
    if name in kinds: kinds[name] += 1
    elif not name.startswith("/proc/"): reached(name)
if kinds["pipe"] > 2 or kinds["socket"] > 1 + 2: reached(kinds)  # two are the runner's own, for rehearsals`, pass, ""},
		{"looks for the word", `
word = ("the judge's " + "own") + " word"
for m in maps():
    if word.encode() in m[:]: reached("the word in shared memory")`, pass, ""},

		{"shrinks", "[refused('ftruncate', libc.ftruncate(fd, ctypes.c_long(size)), errno.EPERM, errno.EFBIG) for fd in shared() for size in (0, os.fstat(fd).st_size + 4096)]", pass, ""},
		// The submission describes a huge answer without writing to its memory, but the judge would need as much to
		// copy it.
		{"describes an answer larger than the judge", `
import __main__, json
size, asked = 800 << 20, []
def describe(output, regions):
    if asked: return b"A" + json.dumps(["array", "|u1", [size], None, "answers", 0]).encode()
    asked.append(True)
    return b"N" + size.to_bytes(8, "little")
__main__.describe = describe`, job.StatusError, "The answer takes 838860800 bytes, and there is room for 268435456"},
		{"shrinks by opening again", `
for fd in shared():
    for flags in (os.O_RDWR | os.O_TRUNC,):
        try: os.open(f"/proc/self/fd/{fd}", flags); reached("O_TRUNC") if os.fstat(fd).st_size == 0 else None
        except OSError: pass`, pass, ""},
		{"adds seals",
			"[refused('seal', libc.fcntl(fd, 1033, seal), errno.EPERM) for fd in shared() for seal in (1, 2, 4, 8, 16)]", pass, ""},
		{"takes rights", "[refused('fchmod', libc.fchmod(fd, 0), errno.EPERM) for fd in shared()]", pass, ""},
		{"takes a lease", "[refused('lease', libc.fcntl(fd, 1024, 1)) for fd in shared()]", pass, ""},
		{"punches holes",
			"[libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(os.fstat(fd).st_size)) for fd in shared()]", "",
			""},
		{"removes pages", "[libc.madvise(at(m), ctypes.c_size_t(len(m)), 9) for m in maps()]", "", ""},
		{"unmaps", "[libc.munmap(at(m), ctypes.c_size_t(len(m))) for m in maps()]", job.StatusError,
			"The program was killed by SIGSEGV"},
		{"protects", "[libc.mprotect(at(m), ctypes.c_size_t(len(m)), 0) for m in maps()]", job.StatusError,
			"The program was killed by SIGSEGV"},
		{"maps other memory there",
			"[libc.mmap(at(m), ctypes.c_size_t(len(m)), 3, 0x32, -1, 0) for m in maps()]; import time; time.sleep(100)",
			job.StatusTimeout, "The time limit"},
	}
	b := newBuilder()
	place := cpu()
	place.DeviceNodes = []string{"/dev/null"} // with device nodes, the sandbox mounts /proc, as on a GPU
	turns := newTurns(t, b, place)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			work := pyJob(t, "correct.py")
			work.Task.Tests = cases("seed: 1", "seed: 2")
			work.Sources = map[string][]byte{"reference.py": []byte(walledReference),
				"submission.py": []byte(prelude + "def attack():\n    " +
					strings.ReplaceAll(strings.TrimSpace(tt.attack), "\n", "\n    ") + "\n")}
			a, _ := mustBuild(t, b, work)
			p := turns.open(t, a)
			req := StageRequest{Mode: "test", Cases: work.Task.Tests, Timeout: 10e9}
			if tt.status == job.StatusTimeout {
				req.Timeout = 1e9
			}
			r := runStage(t, p, req, len(work.Task.Tests))
			if tt.status != "" && r.status != tt.status || !strings.Contains(r.failure.Reason, tt.reason) {
				t.Errorf("got %s, %q; want %s, ...%s...\n%s", r.status, r.failure.Reason, tt.status, tt.reason,
					r.outcome.Stderr)
			}
			// Whatever happened to the attacker, the judge ended normally.
			j := r.outcome.JudgeOutcome
			if harmed := j == nil || j.Signal != "" && j.ExceededLimit != "wall"; harmed ||
				strings.Contains(r.failure.Reason, "The task failed") {
				t.Errorf("the judge was harmed: %+v, %q", j, r.failure.Reason)
			}
		})
	}
}
