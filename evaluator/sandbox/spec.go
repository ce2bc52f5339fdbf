package sandbox

import (
	"os"
	"time"
)

// Limits has the limits of one process tree; sizes are in bytes. A zero field means no limit, except for the writable
// areas: a zero TmpBytes, ShmBytes, or OutBytes means 64 MiB. Start from DefaultBuildLimits or DefaultRunLimits.
type Limits struct {
	WallTime    time.Duration // wall-clock time from the program's start
	CPU         time.Duration // per process, rounded up to whole seconds
	Memory      int64         // of the whole process tree, including its pages in tmpfs
	Processes   int           // processes and threads of the whole tree
	FileSize    int64         // size of each file that the program writes
	OpenFiles   uint64        // per process
	TmpBytes    int64         // size of /tmp
	ShmBytes    int64         // size of /dev/shm
	OutBytes    int64         // size of /out
	OutputBytes int64         // stdout and stderr together; the run is killed when it writes more
	// IsBackground marks programs that are not timed, such as compilers. They run with Config.BuildNice. At normal
	// priority, compilers on all cores made honest kernels up to 130 µs slower on the judge's clock.
	IsBackground bool
}

// DefaultBuildLimits returns the limits of a compiler. With higher limits a submission could occupy a build slot
// longer; with lower ones headers such as CUTLASS's would not compile. A worker may set others.
func DefaultBuildLimits() Limits {
	return Limits{
		WallTime: time.Minute, CPU: time.Minute, Memory: 4 << 30, Processes: 64,
		FileSize: 128 << 20, OpenFiles: 256, // FileSize is small: the worker holds objects and programs in memory
		TmpBytes: 512 << 20, ShmBytes: 16 << 20, OutBytes: 512 << 20, OutputBytes: 8 << 20, IsBackground: true,
	}
}

// DefaultRunLimits returns the limits of a program under test. The memory suffices for importing torch and for pinned
// buffers, and the processes for its threads. Tasks set lower time limits.
func DefaultRunLimits() Limits {
	return Limits{
		WallTime: 3 * time.Minute, CPU: 12 * time.Minute, Memory: 16 << 30, Processes: 256,
		FileSize: 64 << 20, OpenFiles: 1024,
		TmpBytes: 2 << 30, ShmBytes: 256 << 20, OutBytes: 64 << 20, OutputBytes: 8 << 20,
	}
}

// Mount is a read-only bind mount of a host path. A worker that runs as root may bind paths that only root can reach,
// but every user must be able to read the contents.
type Mount struct {
	HostPath   string
	InsidePath string
	Optional   bool // skip if HostPath does not exist
}

// maxExtraFiles limits Spec.ExtraFiles. It suffices for a runner with 16 ranks, each with a channel and a page.
const maxExtraFiles = 32

// Spec describes one untrusted process.
type Spec struct {
	SandboxSlot   int               // determines its user ID: Config.FirstUID + Slot
	Argv          []string          // Argv[0] is a path inside
	Env           map[string]string // in addition to PATH, HOME, TMPDIR, LANG, USER, LOGNAME
	WorkingDir    string            // working directory inside; default /tmp
	Files         map[string][]byte // written read-only below /in before start, by relative name
	WritableFiles map[string][]byte // written into /out before start, writable and owned by the slot's user ID
	Mounts        []Mount
	MountProc     bool     // mount /proc (GPU drivers need it writable)
	DeviceNodes   []string // device nodes bound with --dev-bind: /dev/nvidiactl …
	// AllowInternetSockets allows Internet sockets and listing the network interfaces, of which there is only the
	// loopback of the program's own network namespace. Programs with ranks, Nsight Compute, and compute-sanitizer need
	// them. Other programs have only local sockets, because TCP buffers use the machine's memory.
	AllowInternetSockets bool
	// ResultPipe is inherited as descriptor 3 (the write end of the result pipe); nil means none. ExtraFiles are
	// inherited as descriptors 4 and up, at most maxExtraFiles. The caller must close its own copies.
	ResultPipe *os.File
	ExtraFiles []*os.File
	Stdin      *os.File // nil means empty input
	OnStarted  func()   // called when the process has its descriptors; may be nil
	Limits     Limits
	// OnStdout and OnStderr receive raw output while the process runs, each in its own goroutine (see CleanOutput). The
	// slice is valid only during the call. Outcome has the kept head and tail.
	OnStdout, OnStderr func([]byte)
	// CollectFiles names files in /out to read after all processes of the run have ended, with their maximum sizes.
	// They must be regular files with one link, and no part of the path may be a symlink.
	CollectFiles map[string]int64
}

// Outcome describes how the process ended.
type Outcome struct {
	// ExitCode is -1 if a limit killed the process. As in shells it is 128+n for signal n, and 127 if the program does
	// not exist.
	ExitCode      int
	Signal        string // "SIGSEGV", empty if it exited
	ExceededLimit string // "wall", "cpu", "memory", "processes", "file size", "output"; empty if none was hit
	Cancelled     bool
	WallTime      time.Duration // of the program, without setting up and removing its sandbox
	CPU           time.Duration
	MemoryPeak    int64  // bytes, peak of the tree; without a cgroup, of its largest process
	Stdout        string // valid UTF-8: head and tail, with a note if it was cut
	Stderr        string
	Files         map[string][]byte // files read for CollectFiles
	RefusedFiles  map[string]string // reasons for refused files of CollectFiles
}
