package sandbox

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// runOnNewThread calls f in a new goroutine on a dedicated OS thread, which ends with f. There are two reasons: a mount
// namespace belongs to a thread, and the kernel treats the end of the thread that started bubblewrap as the death of
// its parent, so f must not return before the child has ended.
func runOnNewThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		// The main thread cannot end, and /proc shows it as the whole process. If the goroutine got it, keep it blocked
		// until the next goroutine has another thread.
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			f()
		}()
		<-locked
		runtime.UnlockOSThread()
	}()
}

// setRealUser sets the real user and group ID of the calling thread, which must be dedicated, to those of a run. The
// effective IDs, and with them the thread's rights, stay. The kernel lets the same user limit a process; other users
// need CAP_SYS_RESOURCE, which root in a container often lacks.
func setRealUser(uid int) error {
	if uid < 0 {
		return nil
	}
	// syscall.Setresuid would change every thread of the server.
	const keep = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(uid), keep, keep); errno != 0 {
		return fmt.Errorf("take the run's gid on one thread: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), keep, keep); errno != 0 {
		return fmt.Errorf("take the run's uid on one thread: %w", errno)
	}
	return nil
}

// setSubreaper makes this process the new parent of orphaned descendants, instead of the machine's init, which in many
// containers does not reap processes.
func setSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	return nil
}
