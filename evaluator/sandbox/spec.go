package sandbox

import (
	"os"
	"time"
)

// Limits bounds one process tree; sizes are in bytes. A zero field sets no limit, except that
// the three writable areas are never unbounded: a zero Tmp, Shm or Out means 64 MiB.
// DefaultBuildLimits and DefaultRunLimits are good places to start from.
type Limits struct {
	Wall      time.Duration // from the program's first instruction
	CPU       time.Duration // per process, rounded up to whole seconds
	Memory    int64         // of the whole tree, its tmpfs pages included
	Processes int           // processes and threads of the whole tree
	FileSize  int64         // of any one file
	OpenFiles uint64        // per process
	Tmp       int64         // size of /tmp
	Shm       int64         // size of /dev/shm
	Out       int64         // size of /out
	Output    int64         // stdout and stderr together; one byte more and the run is killed
	// Background is for programs that are not timed, such as compilers: they run with Config.BuildNice. At the usual priority, compilers on all cores made honest kernels up to 130 µs slower on the judge's clock.
	Background bool
}

// DefaultBuildLimits bounds a compiler. With higher limits a submission can hold a build place for longer; with lower ones
// headers such as CUTLASS's do not compile. A worker may set others.
func DefaultBuildLimits() Limits {
	return Limits{
		Wall: time.Minute, CPU: time.Minute, Memory: 4 << 30, Processes: 64,
		FileSize: 128 << 20, OpenFiles: 256, // a worker holds an object and the program in memory
		Tmp: 512 << 20, Shm: 16 << 20, Out: 512 << 20, Output: 8 << 20, Background: true,
	}
}

// DefaultRunLimits bounds a program under test. The memory holds a torch import and pinned
// buffers, and the processes its threads; the wall limit is the task's to lower.
func DefaultRunLimits() Limits {
	return Limits{
		Wall: 3 * time.Minute, CPU: 12 * time.Minute, Memory: 16 << 30, Processes: 256,
		FileSize: 64 << 20, OpenFiles: 1024,
		Tmp: 2 << 30, Shm: 256 << 20, Out: 64 << 20, Output: 8 << 20,
	}
}

// Mount is a read-only bind of a host path. A worker that runs as root may bind what only root
// can reach; what lies below must be readable by everyone.
type Mount struct {
	Host     string
	Inside   string
	Optional bool // skip when Host does not exist
}

// maxExtraFiles is for a runner of 16 ranks, with a channel and a page each.
const maxExtraFiles = 32

// Spec is one untrusted process.
type Spec struct {
	Slot   int               // whose uid it gets: Config.FirstUID + Slot
	Argv   []string          // Argv[0] is a path inside
	Env    map[string]string // the whole environment beside PATH, HOME, TMPDIR, LANG, USER, LOGNAME
	Dir    string            // working directory inside; default /tmp
	Files  map[string][]byte // written read-only below /in before start, by relative name
	Work   map[string][]byte // written into /out before start, owned by the slot's uid, writable
	Mounts []Mount
	Proc   bool     // mount /proc (GPU drivers need it writable)
	Device []string // device nodes bound with --dev-bind: /dev/nvidiactl …
	// Interfaces gives the program sockets of the internet's families, and lets it list its network interfaces: the only one is
	// the loopback of its own namespace. Ranks, Nsight Compute, and compute-sanitizer do not start without. All others have
	// local sockets alone: what waits in TCP's buffers is the machine's memory.
	Interfaces bool
	// Pipe is inherited as descriptor 3 (the result pipe's write end); nil for none. ExtraFiles
	// follow from descriptor 4 on, at most maxExtraFiles. The caller keeps and closes its own copies.
	Pipe       *os.File
	ExtraFiles []*os.File
	Stdin      *os.File // nil reads nothing
	Started    func()   // called when the process has its descriptors; nil for no one
	Limits     Limits
	// OnStdout and OnStderr see output as it comes, raw, each from its own goroutine (Text makes
	// it printable); the slice is theirs only during the call. Outcome has the kept head and tail.
	OnStdout, OnStderr func([]byte)
	// Collect names files below /out to be read, safely, after everything of the run is dead:
	// regular, one link, no symlink on the way, at most the given size.
	Collect map[string]int64
}

// Outcome is how the process ended. Err is not set for anything that the process did.
type Outcome struct {
	ExitCode  int    // -1 when it was killed by a limit; 128+n for a signal and 127 for no such program, as shells have it
	Signal    string // "SIGSEGV", empty if it exited
	Limit     string // "wall", "cpu", "memory", "processes", "file size", "output"; empty if none was hit
	Cancelled bool
	Wall      time.Duration // of the program, without making and clearing its sandbox
	CPU       time.Duration
	MemoryMax int64  // bytes, peak of the tree; without a cgroup, of its largest process
	Stdout    string // valid UTF-8, head and tail, with a note where it was cut
	Stderr    string
	Files     map[string][]byte // what Collect found
	Refused   map[string]string // what Collect refused, and why
}
