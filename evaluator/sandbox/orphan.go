package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// uidRangeSize is the number of user IDs that one server may use. Workers on one machine use ranges that do not overlap
// (--first-uid). Slots, judges, and builds need far fewer.
const uidRangeSize = 1000

// orphanTimeout limits the wait for the processes of a killed server to die. A process that hangs in a driver does not
// delay the start any longer; its slot then fails its self-test.
const orphanTimeout = 2 * time.Second

// killOrphans kills the processes of runs whose server was killed. bubblewrap dies with its server, except during its
// setup, after which its child would sleep forever. It kills only processes with the mark of a dead server and a user
// ID of this server. Runs of live servers continue, and so do those of dead servers with other user IDs, which their
// next start kills.
func (s *Sandbox) killOrphans(ownUID bool) {
	paths, _ := filepath.Glob("/proc/[0-9]*")
	var dying []int
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if fd, ok := s.killOrphan(pid, ownUID); ok {
			dying = append(dying, fd)
		}
	}
	if len(dying) == 0 {
		return
	}
	s.config.Log.Info("ended processes of a killed server", "processes", len(dying))
	deadline := time.Now().Add(orphanTimeout)
	for _, fd := range dying {
		if !waitForExit(fd, deadline) {
			s.config.Log.Warn("a process that a killed server left cannot be ended")
		}
		unix.Close(fd)
	}
}

// killOrphan kills a process if it is an orphan, and returns a descriptor for waiting for its end.
func (s *Sandbox) killOrphan(pid int, ownUID bool) (pidfd int, killed bool) {
	if !s.isOrphan(pid, ownUID) {
		return 0, false
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, false
	}
	// The check is repeated with the pidfd open, because the PID may have been reused.
	if !s.isOrphan(pid, ownUID) || unix.PidfdSendSignal(pidfd, syscall.SIGKILL, nil, 0) != nil {
		unix.Close(pidfd)
		return 0, false
	}
	return pidfd, true
}

func (s *Sandbox) isOrphan(pid int, ownUID bool) bool {
	command, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return false
	}
	mark, _, _ := bytes.Cut(command, []byte{0})
	if !isOrphaned(string(mark)) {
		return false
	}
	// The owner of the /proc directory is not used, because it is root for a process that may not be dumped.
	real, _, _ := strings.Cut(statusFields(filepath.Join("/proc", strconv.Itoa(pid), "status"))["Uid"], "\t")
	uid, err := strconv.Atoi(real)
	if err != nil {
		return false
	}
	if !ownUID {
		return uid == os.Getuid()
	}
	return uid >= s.config.FirstUID && uid < s.config.FirstUID+uidRangeSize
}
