package sandbox

import "golang.org/x/sys/unix"

// x32Bit marks system calls of the x32 ABI, which have other numbers than those in deniedSystemCalls.
const x32Bit = 0x40000000

// ioctlFIOSETOWN and ioctlSIOCSPGRP are F_SETOWN as ioctl.
const ioctlFIOSETOWN, ioctlSIOCSPGRP = 0x8901, 0x8902

// deniedSystemCall is a system call that fails with EPERM in the sandbox.
type deniedSystemCall struct {
	name   string
	number uint32
}

// deniedSystemCalls is a denylist, because the calls of libcuda change between drivers. It has calls that lead out of
// the sandbox, into rarely used kernel code, or from one stage to the next. No compiler, numpy, torch, Triton, or CUDA
// was observed to use one.
func deniedSystemCalls() []deniedSystemCall {
	return []deniedSystemCall{
		// Calls that access other processes.
		{"ptrace", unix.SYS_PTRACE}, {"process_vm_readv", unix.SYS_PROCESS_VM_READV},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV}, {"kcmp", unix.SYS_KCMP},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD},
		// Shared memory, semaphores, and queues of System V and POSIX outlive their creators and would reach the next
		// stage in a warm process's sandbox. CUDA, torch, Triton, NCCL, OpenMP, and Python's multiprocessing use files
		// in /dev/shm, which are removed between stages.
		{"shmget", unix.SYS_SHMGET}, {"shmat", unix.SYS_SHMAT}, {"shmctl", unix.SYS_SHMCTL}, {"shmdt", unix.SYS_SHMDT},
		{"semget", unix.SYS_SEMGET}, {"semop", unix.SYS_SEMOP}, {"semtimedop", unix.SYS_SEMTIMEDOP}, {"semctl", unix.SYS_SEMCTL},
		{"msgget", unix.SYS_MSGGET}, {"msgsnd", unix.SYS_MSGSND}, {"msgrcv", unix.SYS_MSGRCV}, {"msgctl", unix.SYS_MSGCTL},
		{"mq_open", unix.SYS_MQ_OPEN}, {"mq_unlink", unix.SYS_MQ_UNLINK}, {"mq_timedsend", unix.SYS_MQ_TIMEDSEND},
		{"mq_timedreceive", unix.SYS_MQ_TIMEDRECEIVE}, {"mq_notify", unix.SYS_MQ_NOTIFY}, {"mq_getsetattr", unix.SYS_MQ_GETSETATTR},
		// The page cache outlives every process, so evicting a file from it could pass on a bit of information.
		{"fadvise64", unix.SYS_FADVISE64}, {"cachestat", unix.SYS_CACHESTAT},
		// The machine has a common limit for the contexts of asynchronous input and output.
		{"io_setup", unix.SYS_IO_SETUP}, {"io_submit", unix.SYS_IO_SUBMIT}, {"io_getevents", unix.SYS_IO_GETEVENTS},
		{"io_pgetevents", unix.SYS_IO_PGETEVENTS}, {"io_cancel", unix.SYS_IO_CANCEL}, {"io_destroy", unix.SYS_IO_DESTROY},
		// Watching /usr would reveal the headers that the build of another person's source reads.
		{"inotify_init", unix.SYS_INOTIFY_INIT}, {"inotify_init1", unix.SYS_INOTIFY_INIT1},
		{"inotify_add_watch", unix.SYS_INOTIFY_ADD_WATCH},
		// Calls into large or recent parts of the kernel.
		{"bpf", unix.SYS_BPF}, {"perf_event_open", unix.SYS_PERF_EVENT_OPEN},
		{"userfaultfd", unix.SYS_USERFAULTFD}, {"io_uring_setup", unix.SYS_IO_URING_SETUP},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER}, {"io_uring_register", unix.SYS_IO_URING_REGISTER},
		{"keyctl", unix.SYS_KEYCTL}, {"add_key", unix.SYS_ADD_KEY}, {"request_key", unix.SYS_REQUEST_KEY},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT}, {"lookup_dcookie", unix.SYS_LOOKUP_DCOOKIE},
		{"nfsservctl", unix.SYS_NFSSERVCTL}, {"uselib", unix.SYS_USELIB},
		// Calls that change namespaces and mounts.
		{"mount", unix.SYS_MOUNT}, {"umount2", unix.SYS_UMOUNT2}, {"pivot_root", unix.SYS_PIVOT_ROOT},
		{"chroot", unix.SYS_CHROOT}, {"move_mount", unix.SYS_MOVE_MOUNT}, {"open_tree", unix.SYS_OPEN_TREE},
		{"fsopen", unix.SYS_FSOPEN}, {"fsconfig", unix.SYS_FSCONFIG}, {"fsmount", unix.SYS_FSMOUNT},
		{"fspick", unix.SYS_FSPICK}, {"mount_setattr", unix.SYS_MOUNT_SETATTR},
		{"unshare", unix.SYS_UNSHARE}, {"setns", unix.SYS_SETNS},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT}, {"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT},
		{"quotactl", unix.SYS_QUOTACTL}, {"quotactl_fd", unix.SYS_QUOTACTL_FD},
		// Calls that change the machine.
		{"init_module", unix.SYS_INIT_MODULE}, {"finit_module", unix.SYS_FINIT_MODULE},
		{"delete_module", unix.SYS_DELETE_MODULE}, {"kexec_load", unix.SYS_KEXEC_LOAD},
		{"kexec_file_load", unix.SYS_KEXEC_FILE_LOAD}, {"reboot", unix.SYS_REBOOT},
		{"swapon", unix.SYS_SWAPON}, {"swapoff", unix.SYS_SWAPOFF}, {"acct", unix.SYS_ACCT},
		{"settimeofday", unix.SYS_SETTIMEOFDAY}, {"clock_settime", unix.SYS_CLOCK_SETTIME},
		{"clock_adjtime", unix.SYS_CLOCK_ADJTIME}, {"adjtimex", unix.SYS_ADJTIMEX},
		{"iopl", unix.SYS_IOPL}, {"ioperm", unix.SYS_IOPERM}, {"modify_ldt", unix.SYS_MODIFY_LDT},
		{"personality", unix.SYS_PERSONALITY}, {"syslog", unix.SYS_SYSLOG}, {"vhangup", unix.SYS_VHANGUP},
		{"sethostname", unix.SYS_SETHOSTNAME}, {"setdomainname", unix.SYS_SETDOMAINNAME},
		// An additional filter could hide the refusals of this one.
		{"seccomp", unix.SYS_SECCOMP},
	}
}

// seccompFilter returns the filter that bubblewrap installs directly before it starts the program. With interfaces, it
// allows the sockets of Spec.AllowInternetSockets; with background, no new sessions (setBackgroundPriority).
func seccompFilter(kind seccompKind) ([]byte, error) {
	const (
		allow  = unix.SECCOMP_RET_ALLOW
		denied = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	)
	var p bpfProgram
	p.addLoad(seccompArchOffset)
	p.addJump(unix.BPF_JEQ, unix.AUDIT_ARCH_X86_64, 1, 0)
	p.returnAction(unix.SECCOMP_RET_KILL_PROCESS)
	p.addLoad(seccompNumberOffset)
	p.addJump(unix.BPF_JSET, x32Bit, 0, 1)
	p.returnAction(denied)
	// clone3 fails with ENOSYS: glibc then uses clone, whose flags a filter can read.
	p.returnForCall(unix.SYS_CLONE3, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS))
	for _, call := range deniedSystemCalls() {
		p.returnForCall(call.number, denied)
	}
	if kind.background {
		p.returnForCall(unix.SYS_SETSID, denied)
	}
	p.returnForArgument(unix.SYS_CLONE, 0, unix.BPF_JSET, []uint32{namespaceFlags}, denied, allow)
	p.returnForArgument(unix.SYS_PRCTL, 0, unix.BPF_JEQ, []uint32{unix.PR_SET_SECCOMP}, denied, allow)
	// These fcntl and ioctl commands can watch files, like inotify, or have a file send a signal after its process has
	// ended.
	p.returnForArgument(unix.SYS_FCNTL, 1, unix.BPF_JEQ, []uint32{unix.F_NOTIFY, unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG}, denied, allow)
	p.returnForArgument(unix.SYS_IOCTL, 1, unix.BPF_JEQ, []uint32{ioctlFIOSETOWN, ioctlSIOCSPGRP}, denied, allow)
	// The machine has a common limit for the filters of all sockets, including those in other sandboxes.
	p.socketOptionRules([]uint32{unix.SO_ATTACH_FILTER, unix.SO_ATTACH_BPF, unix.SO_ATTACH_REUSEPORT_CBPF, unix.SO_ATTACH_REUSEPORT_EBPF}, denied)
	families := []uint32{unix.AF_UNIX}
	if kind.interfaces {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	p.socketRules(families, kind.interfaces, denied)
	p.returnAction(allow)
	return p.encode(), nil
}
