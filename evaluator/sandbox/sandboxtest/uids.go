package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// RangeSize is the number of user IDs in a reservation.
const RangeSize = 100

// Range of reserved user IDs: below systemd's, above those of people, and apart from a site's default.
const (
	firstRange = 50_000
	pastRanges = 60_000
)

// FirstUID returns the first of RangeSize user IDs that nothing else on this machine uses until the test ends. Call it
// before starting processes with them, so that its cleanup runs after theirs.
func FirstUID(tb testing.TB) int {
	tb.Helper()
	first, release, err := Reserve()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(release)
	return first
}

// Reserve is FirstUID for a TestMain. Linux releases the reservations of a process that dies.
func Reserve() (first int, release func(), err error) {
	return reserve("uids", firstRange, pastRanges, RangeSize, func(first int) bool { return !inUse(first) })
}

// reserve returns the first number in a range that is free and not reserved by another test. Each kind has its own
// directory of lock files.
func reserve(kind string, from, past, step int, free func(int) bool) (number int, release func(), err error) {
	dir := filepath.Join(os.TempDir(), "warpboard-test-"+kind)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, nil, fmt.Errorf("reserve %s for tests: %w", kind, err)
	}
	var last error
	for number := from; number < past; number += step {
		file, err := lock(filepath.Join(dir, fmt.Sprint(number)))
		if err != nil {
			last = err
			continue
		}
		if free(number) {
			return number, sync.OnceFunc(func() { unix.Close(file) }), nil
		}
		unix.Close(file)
	}
	return 0, nil, fmt.Errorf("reserve %s for tests: all of %d to %d are in use (last: %w)", kind, from, past-1, last)
}

// lock locks a file for this process without waiting. It returns a descriptor, because the garbage collector would
// close an unreferenced os.File and release the lock during the tests.
func lock(path string) (int, error) {
	file, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	if err := unix.Flock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return -1, errors.Join(fmt.Errorf("lock %s: %w", path, err), unix.Close(file))
	}
	return file, nil
}

// inUse reports whether a process has one of the user IDs: of a site, or left by a killed test.
func inUse(first int) bool {
	paths, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range paths {
		status, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		_, after, _ := strings.Cut(string(status), "\nUid:")
		var uid int
		if _, err := fmt.Sscan(after, &uid); err == nil && uid >= first && uid < first+RangeSize {
			return true
		}
	}
	return false
}
