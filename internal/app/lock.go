package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// maxLockWait limits the wait for the lock of the data directory.
const maxLockWait, lockRetryInterval = time.Second, 20 * time.Millisecond

// lockDataDir locks the data directory for this process until release is called or the process ends: two queues with
// the same files, or two sandboxes, would damage each other's files.
func lockDataDir(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data: cannot create the directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--data: cannot write to the directory: %w", err)
	}
	// The lock belongs to the open file, so it ends with the process. A child process that inherits the descriptor
	// keeps it until its exec, because Go opens files close-on-exec; if the process was killed, that may be some time
	// later. On a network file system the lock may only work between processes of one machine.
	for began := time.Now(); ; time.Sleep(lockRetryInterval) {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Since(began) >= maxLockWait {
			break
		}
	}
	if err == nil {
		return func() { file.Close() }, nil
	}
	file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("--data %s: another warpboard is using it; stop that one, or give this one another directory", dir)
	}
	return nil, fmt.Errorf("--data %s: lock it: %w", dir, err)
}
