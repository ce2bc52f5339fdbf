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

	"warpboard/evaluator/sandbox/cgroup"
)

// ErrStuck means that a process of the run did not die within ten seconds of SIGKILL: it hangs in
// a driver, and its slot must not be used again.
var ErrStuck = errors.New("a process of the run cannot be killed; take its slot out of service")

// Config says how a Sandbox works. The zero value is good.
type Config struct {
	// Off runs programs without walls: only a session of their own, rlimits and the wall limit.
	Off bool
	// Root is a directory for runs that cannot be kept in memory (a server that is not root);
	// empty means one below the system's temporary directory.
	Root string
	// FirstUID is the uid and gid of slot 0; 0 means 60000.
	FirstUID int
	// BuildNice is the nice value of programs in the background; 0 means 19. On a machine with other work, such programs get
	// hardly any time at 19, and reach their limits.
	BuildNice int
	Log       *slog.Logger
}

// Sandbox runs untrusted processes. It is safe for use by several goroutines.
type Sandbox struct {
	config Config
	// Weakness: an error of the first time stays. A machine on which bubblewrap is installed later needs its worker to
	// be started again, although the self-test is repeated.
	setup func() (*host, error) // once, at the first run
}

// New returns a Sandbox. It touches nothing; the first run finds out what the machine offers and
// removes what dead servers left behind.
func New(config Config) *Sandbox {
	if config.Root == "" {
		config.Root = filepath.Join(os.TempDir(), fmt.Sprintf("warpboard-sandbox-%d", os.Getuid()))
	}
	if config.BuildNice == 0 {
		config.BuildNice = lowestPriority
	}
	if config.FirstUID == 0 {
		config.FirstUID = 60000
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sandbox{config: config}
	s.setup = sync.OnceValues(s.prepare)
	return s
}

// Off reports whether programs run without a sandbox.
func (s *Sandbox) Off() bool { return s.config.Off }

// Name is the sandbox in a result's machine record: "bubblewrap" or "off".
func (s *Sandbox) Name() string {
	if s.config.Off {
		return "off"
	}
	return "bubblewrap"
}

// Run runs one process to its end. The error is about the machine; whatever the process did,
// its crash and its limits included, is in the Outcome. Cancelling ctx kills the run.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (Outcome, error) {
	p, err := s.Start(ctx, spec)
	if err != nil {
		return Outcome{}, err
	}
	return p.Wait()
}

// host is what this machine offers for a sandbox.
type host struct {
	bwrap   string
	filters map[bool][]byte // seccomp programs, by Spec.Interfaces
	cgroups *cgroup.Tree    // nil: no limits on whole trees
	ownUID  bool            // runs get the uid of their slot
	stage   bool            // runs get their files from a mount namespace of their own
}

func (s *Sandbox) prepare() (*host, error) {
	s.sweep()
	if s.config.Off {
		return &host{}, nil
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("bubblewrap is not installed (on Debian: apt-get install bubblewrap): %w", err)
	}
	filters := map[bool][]byte{}
	for _, interfaces := range []bool{false, true} {
		if filters[interfaces], err = seccompFilter(interfaces); err != nil {
			return nil, err
		}
	}
	if err := setSubreaper(); err != nil {
		return nil, err
	}
	h := &host{bwrap: bwrap, filters: filters}
	caps := effectiveCapabilities()
	// Three ways a server runs: root with all of it (uids and mount namespaces), root in a container with less (uids,
	// files on the disk), or an ordinary user (one uid for all runs).
	h.ownUID = caps.has(unix.CAP_SETUID) && caps.has(unix.CAP_SETGID) && caps.has(unix.CAP_KILL)
	if os.Geteuid() == 0 && !h.ownUID {
		return nil, errors.New("the server is root but may not change its user: programs would run as root; start it as another user")
	}
	// Before the first run, when no process of this server has a slot's uid yet.
	s.endOrphans(h.ownUID)
	h.stage = h.ownUID && caps.has(unix.CAP_SYS_ADMIN) && caps.has(unix.CAP_CHOWN)
	if h.cgroups, err = cgroup.Find(); err != nil {
		s.config.Log.Warn("no cgroups: memory and processes are limited by rlimits alone", "err", err)
	} else {
		h.cgroups.Sweep(orphaned, orphanTimeout)
	}
	return h, nil
}

// uid is the user that a run of the slot gets, or -1 for the server's own.
func (s *Sandbox) uid(h *host, slot int) int {
	if !h.ownUID {
		return -1
	}
	return s.config.FirstUID + slot
}

// capabilities is a set of Linux capabilities, one bit each.
type capabilities uint64

func (c capabilities) has(number int) bool { return c&(1<<number) != 0 }

func effectiveCapabilities() capabilities {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0
	}
	return capabilities(data[0].Effective) | capabilities(data[1].Effective)<<32
}
