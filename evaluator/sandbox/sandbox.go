package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrProcessStuck means that a process of the run did not die after SIGKILL, and made no progress for ten seconds: it
// hangs in a driver. Its slot must not be used until the process has ended. Errors of runs have a StuckProcessError.
var ErrProcessStuck = errors.New("a process of the run cannot be killed; take its slot out of service")

// ErrMachineMemory means that a process of the run was killed although the run was below its memory limit: the machine,
// or the container of the server, ran out of memory. The outcome of the run has the memory limit.
var ErrMachineMemory = errors.New("the machine ran out of memory while the program ran")

// StuckProcessError is an ErrProcessStuck with the end of the process.
type StuckProcessError struct {
	Ended <-chan struct{} // closed when no process of the run is left

	processes string // a text for people
}

func (e *StuckProcessError) Error() string {
	return fmt.Sprintf("%s: %v", e.processes, ErrProcessStuck)
}

// Unwrap returns ErrProcessStuck.
func (e *StuckProcessError) Unwrap() error { return ErrProcessStuck }

// Config configures a Sandbox. The zero value is valid.
type Config struct {
	// Disabled runs programs without isolation: only with a separate session, rlimits, and the wall-clock limit.
	Disabled bool
	// RunDir is the directory for runs whose files cannot be kept in memory (if the server is not root). The default is
	// a directory in the system's temporary directory.
	RunDir string
	// FirstUID is the user and group ID of slot 0; 0 means 60000.
	FirstUID int
	// BuildNice is the nice value of programs in the background; 0 means 19. On a machine with other work, such
	// programs hardly run at 19 and reach their time limits.
	BuildNice int
	Log       *slog.Logger
}

// Sandbox runs untrusted processes. It is safe for concurrent use.
type Sandbox struct {
	config Config
	// setUpOnce runs once, at the first run. Weakness: its error is permanent. If bubblewrap is installed later, the
	// worker must be restarted, although the self-test is repeated.
	setUpOnce func() (*hostFeatures, error) // hostFeatures, which caches its result
}

// New returns a Sandbox without side effects. The first run detects the machine's features and removes leftovers of
// dead servers.
func New(config Config) *Sandbox {
	if config.RunDir == "" {
		config.RunDir = filepath.Join(os.TempDir(), fmt.Sprintf("warpboard-sandbox-%d", os.Getuid()))
	}
	if config.BuildNice == 0 {
		config.BuildNice = lowestNice
	}
	if config.FirstUID == 0 {
		config.FirstUID = 60000
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sandbox{config: config}
	s.setUpOnce = sync.OnceValues(s.hostFeatures)
	return s
}

// Disabled reports whether programs run without a sandbox.
func (s *Sandbox) Disabled() bool { return s.config.Disabled }

// Name returns the sandbox's name for a result's machine record: "bubblewrap" or "off".
func (s *Sandbox) Name() string {
	if s.config.Disabled {
		return "off"
	}
	return "bubblewrap"
}

// Run runs one process to its end. The error is an infrastructure error; everything that the process did, including
// crashes and exceeded limits, is in the Outcome. Cancelling ctx kills the run.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (Outcome, error) {
	p, err := s.Start(ctx, spec)
	if err != nil {
		return Outcome{}, err
	}
	return p.Wait()
}

// seccompKind selects a seccomp filter: Spec.AllowInternetSockets and Limits.IsBackground.
type seccompKind struct{ interfaces, background bool }

// hostFeatures describes the features of this machine.
type hostFeatures struct {
	bwrapPath        string
	seccompFilters   map[seccompKind][]byte
	cgroups          *CgroupTree // nil if whole trees cannot be limited
	hasSlotUIDs      bool        // runs have the user ID of their slot
	hasPrivateMounts bool        // runs have their files in their own mount namespace
}

func (s *Sandbox) hostFeatures() (*hostFeatures, error) {
	s.removeOrphanDirs()
	if s.config.Disabled {
		return &hostFeatures{}, nil
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("bubblewrap is not installed (on Debian: apt-get install bubblewrap): %w", err)
	}
	filters := map[seccompKind][]byte{}
	for _, kind := range []seccompKind{{}, {interfaces: true}, {background: true}, {true, true}} {
		if filters[kind], err = seccompFilter(kind); err != nil {
			return nil, err
		}
	}
	if err := setSubreaper(); err != nil {
		return nil, err
	}
	h := &hostFeatures{bwrapPath: bwrap, seccompFilters: filters}
	caps := effectiveCapabilities()
	// A server can run in three ways: as root with all capabilities (separate user IDs and mount namespaces), as root
	// in a container with fewer (separate user IDs, files on the disk), or as an ordinary user (one user ID for all
	// runs).
	h.hasSlotUIDs = caps.has(unix.CAP_SETUID) && caps.has(unix.CAP_SETGID) && caps.has(unix.CAP_KILL)
	if os.Geteuid() == 0 && !h.hasSlotUIDs {
		return nil, errors.New("the server is root but may not change its user: programs would run as root; start it as another user")
	}
	// Orphans must be killed before the first run, while no process of this server has a slot's user ID.
	s.killOrphans(h.hasSlotUIDs)
	h.hasPrivateMounts = h.hasSlotUIDs && caps.has(unix.CAP_SYS_ADMIN) && caps.has(unix.CAP_CHOWN)
	if h.cgroups, err = findCgroupTree(); err != nil {
		s.config.Log.Warn("no cgroups: memory and processes are limited by rlimits alone", "err", err)
	} else {
		h.cgroups.RemoveOrphans(isOrphaned, orphanTimeout)
	}
	return h, nil
}

// userID returns the user ID for a run of the slot, or -1 for the server's own.
func (s *Sandbox) userID(h *hostFeatures, slot int) int {
	if !h.hasSlotUIDs {
		return -1
	}
	return s.config.FirstUID + slot
}

// capabilitySet is a set of Linux capabilities, one bit each.
type capabilitySet uint64

func (c capabilitySet) has(number int) bool { return c&(1<<number) != 0 }

func effectiveCapabilities() capabilitySet {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0
	}
	return capabilitySet(data[0].Effective) | capabilitySet(data[1].Effective)<<32
}
