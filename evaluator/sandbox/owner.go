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

// runPrefix begins the name of every directory and cgroup that a run has. The rest is the server's
// pid, its start time and a random word, so that a later server knows whose leftovers it may remove.
const runPrefix = "warpboard-"

func runName() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%s", runPrefix, pid, startTime(pid), rand.Text())
}

// startTime is the pid's start in clock ticks since boot, or "" when there is no such process.
// Together they name a process even after its pid is used again.
func startTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name, which may hold spaces and brackets.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// orphaned reports whether name is of a run whose server is no more.
func orphaned(name string) bool {
	rest, ok := strings.CutPrefix(name, runPrefix)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "-")
	if len(parts) != 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[0])
	return err == nil && startTime(pid) != parts[1]
}

// sweep removes the directories of runs whose server was killed.
func (s *Sandbox) sweep() {
	entries, err := os.ReadDir(s.config.Root)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !orphaned(entry.Name()) {
			continue
		}
		if err := removeTree(filepath.Join(s.config.Root, entry.Name())); err != nil {
			s.config.Log.Warn("leftover of a dead run stays", "err", err)
		}
	}
}

// removeTree removes a directory that an untrusted program wrote into, even where it took
// permissions from itself. Nothing may write there any more.
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
