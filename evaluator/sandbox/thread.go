package sandbox

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// onOwnThread calls f in a new goroutine on a dedicated operating system thread, which ends with f. Two things need
// this: a mount namespace belongs to a thread, and the kernel treats the death of the thread that started bubblewrap as
// the death of its parent, so that f must stay until the child is gone.
func onOwnThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		// The main thread cannot end, and /proc shows it as the whole process: block it until the next goroutine has
		// another thread.
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

// setRealUser sets the real user and group ID of the calling thread, which must be dedicated, to a run's; the effective
// ones, and with them its rights, stay. The kernel lets a process be limited by its own user, and by others only with
// CAP_SYS_RESOURCE, which root in a container often lacks.
func setRealUser(uid int) error {
	if uid < 0 {
		return nil
	}
	// Not syscall.Setresuid, which would change every thread of the server.
	const keep = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(uid), keep, keep); errno != 0 {
		return fmt.Errorf("take the run's gid on one thread: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), keep, keep); errno != 0 {
		return fmt.Errorf("take the run's uid on one thread: %w", errno)
	}
	return nil
}

// setSubreaper makes this process the parent of its dead children's children, instead of the machine's init, which in
// many containers reaps nothing.
func setSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	return nil
}
