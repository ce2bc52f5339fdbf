package sandbox_test

import (
	"strconv"
	"strings"
	"testing"

	"warpboard/evaluator/sandbox"
)

// The numbers come from the C library's headers, not from the filter's table.
const deniedSource = `
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <initializer_list>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void report(const char *name, long result) {
	printf("%s %s\n", name, result < 0 ? strerrorname_np(errno) : "OK");
	fflush(stdout);
}
#define CALL(name, ...) report(#name, syscall(SYS_##name, ##__VA_ARGS__))

int main() {
	CALL(ptrace, 0, 0, 0, 0); CALL(process_vm_readv, 0, 0, 0, 0, 0, 0); CALL(process_vm_writev, 0, 0, 0, 0, 0, 0);
	CALL(kcmp, 0, 0, 0, 0, 0); CALL(pidfd_getfd, 0, 0, 0); CALL(bpf, 0, 0, 0); CALL(perf_event_open, 0, 0, 0, 0, 0);
	CALL(userfaultfd, 0); CALL(io_uring_setup, 0, 0); CALL(io_uring_enter, 0, 0, 0, 0, 0, 0); CALL(io_uring_register, 0, 0, 0, 0);
	CALL(keyctl, 0, 0, 0, 0, 0); CALL(add_key, 0, 0, 0, 0, 0); CALL(request_key, 0, 0, 0, 0);
	CALL(mount, 0, 0, 0, 0, 0); CALL(umount2, 0, 0); CALL(pivot_root, 0, 0); CALL(chroot, 0); CALL(move_mount, 0, 0, 0, 0, 0);
	CALL(open_tree, 0, 0, 0); CALL(fsopen, 0, 0); CALL(fsconfig, 0, 0, 0, 0, 0); CALL(fsmount, 0, 0, 0); CALL(fspick, 0, 0, 0);
	CALL(mount_setattr, 0, 0, 0, 0, 0); CALL(unshare, 0); CALL(setns, 0, 0); CALL(init_module, 0, 0, 0);
	CALL(finit_module, 0, 0, 0); CALL(delete_module, 0, 0); CALL(kexec_load, 0, 0, 0, 0); CALL(kexec_file_load, 0, 0, 0, 0, 0);
	CALL(reboot, 0, 0, 0, 0); CALL(swapon, 0, 0); CALL(swapoff, 0); CALL(acct, 0); CALL(quotactl, 0, 0, 0, 0);
	CALL(settimeofday, 0, 0); CALL(clock_settime, 0, 0); CALL(clock_adjtime, 0, 0); CALL(adjtimex, 0); CALL(iopl, 0);
	CALL(ioperm, 0, 0, 0); CALL(modify_ldt, 0, 0, 0); CALL(personality, 0); CALL(open_by_handle_at, 0, 0, 0);
	CALL(name_to_handle_at, 0, 0, 0, 0, 0); CALL(fanotify_init, 0, 0); CALL(lookup_dcookie, 0, 0, 0); CALL(syslog, 0, 0, 0);
	CALL(vhangup); CALL(sethostname, 0, 0); CALL(setdomainname, 0, 0); CALL(nfsservctl, 0, 0, 0); CALL(uselib, 0);
	CALL(seccomp, SECCOMP_GET_ACTION_AVAIL, 0, 0);
	CALL(shmget, 1, 1, 0); CALL(shmat, 0, 0, 0); CALL(shmctl, 0, 0, 0); CALL(shmdt, 0);
	CALL(semget, 1, 1, 0); CALL(semop, 0, 0, 0); CALL(semtimedop, 0, 0, 0, 0); CALL(semctl, 0, 0, 0, 0);
	CALL(msgget, 1, 0); CALL(msgsnd, 0, 0, 0, 0); CALL(msgrcv, 0, 0, 0, 0, 0); CALL(msgctl, 0, 0, 0);
	CALL(mq_open, "q", 0, 0, 0); CALL(mq_unlink, "q"); CALL(mq_timedsend, 0, 0, 0, 0, 0); CALL(mq_timedreceive, 0, 0, 0, 0, 0);
	CALL(mq_notify, 0, 0); CALL(mq_getsetattr, 0, 0, 0); CALL(fadvise64, 0, 0, 0, 4);
	CALL(io_setup, 1, 0); CALL(io_submit, 0, 0, 0); CALL(io_getevents, 0, 0, 0, 0, 0); CALL(io_pgetevents, 0, 0, 0, 0, 0, 0);
	CALL(io_cancel, 0, 0, 0); CALL(io_destroy, 0);
	CALL(inotify_init); CALL(inotify_init1, 0); CALL(inotify_add_watch, 0, "/usr", 1);
	report("cachestat", syscall(451, 0, 0, 0, 0));
	report("fcntl(notify)", fcntl(open("/usr", O_RDONLY), F_NOTIFY, 1));
	f_owner_ex owner = {F_OWNER_PID, 1};
	report("fcntl(setown)", fcntl(0, F_SETOWN, 1));
	report("fcntl(setown_ex)", fcntl(0, F_SETOWN_EX, &owner));
	report("fcntl(setsig)", fcntl(0, F_SETSIG, 19));
	for (int command : {0x8901, 0x8902}) report("ioctl", ioctl(0, command, &owner.pid));
	sock_filter all[] = {{BPF_RET | BPF_K, 0, 0, 0xffffffff}};
	sock_fprog filter = {1, all};
	int local = socket(AF_UNIX, SOCK_STREAM, 0);
	for (int option : {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF})
		report("setsockopt", setsockopt(local, SOL_SOCKET, option, &filter, sizeof filter));
	report("prctl(seccomp)", prctl(PR_SET_SECCOMP, 99, 0, 0, 0));
	report("x32", syscall(0x40000000 + SYS_getpid));
	for (int domain : {AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG}) report("socket", socket(domain, SOCK_RAW, 0));
	for (int domain : {AF_INET, AF_INET6}) report("socket", socket(domain, SOCK_STREAM, 0));
	for (int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP})
		report("clone", syscall(SYS_clone, flag, 0, 0, 0, 0));
	puts("--");
	CALL(clone3, 0, 0);
	puts("--");
	int pair[2], size = 1 << 16;
	report("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	report("setsockopt", setsockopt(local, SOL_SOCKET, SO_SNDBUF, &size, sizeof size));
	report("fcntl", fcntl(local, F_SETFD, FD_CLOEXEC));
	cpu_set_t set;
	report("sched_getaffinity", sched_getaffinity(0, sizeof set, &set));
	report("sched_setaffinity", sched_setaffinity(0, sizeof set, &set));
	report("memfd_create", memfd_create("x", 0));
	report("mlock", mlock(&set, sizeof set));
	report("prctl(name)", prctl(PR_SET_NAME, "name"));
	CALL(membarrier, 0, 0, 0);
	CALL(pidfd_open, getpid(), 0);
}
`

func TestSystemCallFilterRefusesEachNamedCallAndNoOther(t *testing.T) {
	sb := newSandbox(t)
	o := run(t, sb, sandbox.Spec{
		Argv:   []string{"/in/program"},
		Files:  map[string][]byte{"program": compile(t, sb, deniedSource)},
		Limits: limits(),
	})
	parts := strings.Split(o.Stdout, "--\n")
	if o.ExitCode != 0 || len(parts) != 3 || strings.Count(parts[0], "\n") != 110 {
		t.Fatalf("code %d %s: %s%s", o.ExitCode, o.Signal, o.Stdout, o.Stderr)
	}
	for i, want := range []string{"EPERM", "ENOSYS", "OK"} {
		for line := range strings.Lines(parts[i]) {
			if !strings.HasSuffix(line, " "+want+"\n") {
				t.Errorf("%q, want %s", strings.TrimSpace(line), want)
			}
		}
	}
}

const interfacesSource = `
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ifaddrs.h>
#include <initializer_list>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/socket.h>

int main() {
	ifaddrs *all = nullptr;
	if (getifaddrs(&all) != 0) printf("%s\n", strerrorname_np(errno));
	for (ifaddrs *i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET) printf("%s %s\n", i->ifa_name, i->ifa_flags & IFF_RUNNING ? "runs" : "does not run");
	for (int protocol = 1; protocol < 32; ++protocol)
		if (socket(AF_NETLINK, SOCK_RAW, protocol) >= 0 || errno != EPERM) printf("netlink %d\n", protocol);
	for (int domain : {AF_PACKET, AF_VSOCK, AF_ALG}) if (socket(domain, SOCK_RAW, 0) >= 0 || errno != EPERM) printf("domain %d\n", domain);
}
`

// TestBuffersOfSocketsAreBounded checks programs that have a loopback interface. In version 1 of cgroups, TCP buffers
// do not count as a program's memory.
func TestBuffersOfSocketsAreBounded(t *testing.T) {
	sb := newSandbox(t)
	limits := limits()
	limits.Memory, limits.OpenFiles = 512<<20, 1024
	o := run(t, sb, sandbox.Spec{Argv: []string{"/in/program"},
		Files: map[string][]byte{"program": compile(t, sb, buffersSource)}, Limits: limits, AllowInternetSockets: true})
	held, err := strconv.Atoi(strings.TrimSpace(o.Stdout))
	if o.ExitCode != 0 || err != nil {
		t.Fatalf("code %d %s: %q %s", o.ExitCode, o.Signal, o.Stdout, o.Stderr)
	}
	if held > 128 {
		t.Errorf("%d MiB wait in buffers", held)
	}
}

// buffersSource is a program that fills its own TCP connections without reading from them, and prints the number of MiB
// that it wrote.
const buffersSource = `
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int main() {
	sockaddr_in at{};
	socklen_t length = sizeof at;
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int door = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(door, (sockaddr *)&at, length) || listen(door, 8) || getsockname(door, (sockaddr *)&at, &length)) { perror("door"); return 1; }
	static char data[1 << 16];
	long held = 0;
	for (int i = 0; i < 400; i++) {
		int end = socket(AF_INET, SOCK_STREAM, 0), size = 1 << 22;
		setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
		if (connect(end, (sockaddr *)&at, sizeof at)) { perror("connect"); return 1; }
		if (accept(door, nullptr, nullptr) < 0) { perror("accept"); return 1; }
		fcntl(end, F_SETFL, O_NONBLOCK);
		for (long n; (n = write(end, data, sizeof data)) > 0;) held += n;
	}
	printf("%ld\n", held >> 20);
}
`

func TestInterfacesAreVisibleOnlyIfAllowed(t *testing.T) {
	sb := newSandbox(t)
	program := compile(t, sb, interfacesSource)
	for may, want := range map[bool]string{false: "EPERM\n", true: "lo runs\n"} {
		o := run(t, sb, sandbox.Spec{Argv: []string{"/in/program"}, Files: map[string][]byte{"program": program},
			Limits: limits(), AllowInternetSockets: may})
		if o.ExitCode != 0 || o.Stdout != want {
			t.Errorf("may %v: code %d %s: %q %s", may, o.ExitCode, o.Signal, o.Stdout, o.Stderr)
		}
	}
}
