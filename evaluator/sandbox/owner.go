package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// runMarkPrefix is the prefix of a run's mark, which is the name of its directory, its cgroups, and its first
// processes. The mark also contains the server's PID, its start time, its PID namespace, and a random word, by which a
// later server finds leftovers that it may remove. Servers of older versions look for three words without a namespace.
// The mark must not match these; otherwise they would treat the runs of a live server as leftovers.
const runMarkPrefix = "warpboard-"

func newRunName() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%s-%s", runMarkPrefix, pid, processStartTime(pid), pidNamespace(), rand.Text())
}

// pidNamespace returns an ID of the server's PID namespace, because PIDs are per container.
func pidNamespace() string {
	link, _ := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"; if it is missing, there is only one namespace
	return strings.Trim(link, "pid:[]")
}

// processStartTime returns the start time of a process in clock ticks since boot, or "" if there is no such process.
// PID and start time together identify a process even if PIDs are reused.
func processStartTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name, which may contain spaces and parentheses.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// ownerProcess is the server named in a run's mark.
type ownerProcess struct {
	pid                     int
	startTime, pidNamespace string
}

func parseOwner(mark string) (o ownerProcess, ok bool) {
	rest, ok := strings.CutPrefix(mark, runMarkPrefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) < 3 || len(parts) > 4 {
		return ownerProcess{}, false
	}
	pid, err := strconv.Atoi(parts[0])
	o = ownerProcess{pid: pid, startTime: parts[1]}
	if len(parts) == 4 {
		o.pidNamespace = parts[2]
	}
	return o, err == nil
}

// hasEnded reports whether the server has ended. It is meaningful only if the server was in this PID namespace.
func (o ownerProcess) hasEnded() bool { return processStartTime(o.pid) != o.startTime }

// isOrphaned reports whether mark belongs to a run whose server has ended. It is false for servers in other PID
// namespaces, which may be alive; their processes end with the namespace.
func isOrphaned(mark string) bool {
	o, ok := parseOwner(mark)
	return ok && o.hasEnded() && (o.pidNamespace == "" || o.pidNamespace == pidNamespace())
}

// removeOrphanDirs removes the directories of runs whose server was killed. All directories in the server's root are
// its own, even if a restarted container has another PID namespace.
func (s *Sandbox) removeOrphanDirs() {
	entries, err := os.ReadDir(s.config.RunDir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if o, ok := parseOwner(entry.Name()); !ok || !o.hasEnded() {
			continue
		}
		if err := removeTree(filepath.Join(s.config.RunDir, entry.Name())); err != nil {
			s.config.Log.Warn("leftover of a dead run stays", "err", err)
		}
	}
}

// removeTree removes a directory that an untrusted program wrote to, even if it removed permissions. No process may
// write there at the same time.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
