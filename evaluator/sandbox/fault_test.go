package sandbox_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/sandbox"
)

const faults = `
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void daemonize() {
	for (int i = 0; i < 2; i++) {
		if (fork()) { if (i == 0) { char c; (void)!read(0, &c, 1); _exit(0); } _exit(0); }
		setsid();
	}
	if (fork()) for (;;) pause();
	for (volatile long i = 0;; i++) {}
}

static void connect_to(const char *port) {
	sockaddr_in a{};
	a.sin_family = AF_INET;
	a.sin_port = htons(atoi(port));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, (sockaddr *)&a, sizeof a) == 0) { puts("connected"); exit(0); }
	perror("connect");
	exit(3);
}

int main(int argc, char **argv) {
	std::string what = argv[1];
	const size_t size = 1ul << 30;
	if (what == "daemon") daemonize();
	if (what == "forks") for (;;) fork();
	if (what == "forks and sleeps") { for (int i = 0; i < 100; i++) if (fork() == 0) pause(); return 4; }
	if (what == "heap") { char *p = (char *)malloc(size); memset(p, 1, size); puts(p + size - 2); }
	if (what == "memfd") { int fd = memfd_create("x", 0); ftruncate(fd, size);
		memset(mmap(0, size, PROT_WRITE, MAP_SHARED, fd, 0), 1, size); }
	if (what == "heap in a child") { if (fork() == 0) { char *p = (char *)malloc(size); memset(p, 1, size); } for (;;) pause(); }
	if (what == "print") for (;;) write(1, faults_text, sizeof faults_text);
	if (what == "sleep") for (;;) pause();
	if (what == "burn") for (volatile long i = 0;; i++) {}
	if (what == "segfault") { *(volatile int *)argc = 0; }
	if (what == "abort") abort();
	if (what == "close") { for (int fd = 0; fd < 1024; fd++) close(fd); return 5; }
	if (what == "connect") connect_to(argv[2]);
	return 0;
}
`

func buildFaults(t *testing.T, sb *sandbox.Sandbox) []byte {
	source := "static char faults_text[65536];\n" + faults
	return compile(t, sb, source)
}

func TestFaultsEndTheRunWithTheirReason(t *testing.T) {
	sb := newSandbox(t)
	program := buildFaults(t, sb)
	tests := []struct {
		what   string
		limit  string
		signal string
		code   int
		change func(*sandbox.Limits)
	}{
		{what: "daemon"},
		// cgroup v2 charges kernel stacks: without memory for them, the memory limit comes first.
		{what: "forks", limit: "processes", signal: "SIGKILL", code: -1,
			change: func(l *sandbox.Limits) { l.Memory = 1 << 30 }},
		{what: "forks and sleeps", limit: "processes", code: 4},
		{what: "heap", limit: "memory", signal: "SIGKILL", code: 137},
		{what: "memfd", limit: "memory", signal: "SIGKILL", code: 137,
			change: func(l *sandbox.Limits) { l.FileSize = 2 << 30 }},
		{what: "memfd", limit: "file size", signal: "SIGXFSZ", code: 153},
		{what: "heap in a child", limit: "memory", signal: "SIGKILL", code: -1},
		{what: "print", limit: "output", signal: "SIGKILL", code: -1},
		{what: "sleep", limit: "wall", signal: "SIGKILL", code: -1,
			change: func(l *sandbox.Limits) { l.WallTime = 50 * time.Millisecond }},
		{what: "burn", limit: "wall", signal: "SIGKILL", code: -1,
			change: func(l *sandbox.Limits) { l.WallTime = 50 * time.Millisecond }},
		{what: "burn", limit: "cpu", signal: "SIGXCPU", code: 152,
			change: func(l *sandbox.Limits) { l.CPU = time.Second }},
		{what: "segfault", signal: "SIGSEGV", code: 139},
		{what: "abort", signal: "SIGABRT", code: 134},
		{what: "close", code: 5},
	}
	for i, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			slot := i % 3
			spec := sandbox.Spec{
				SandboxSlot: slot, Argv: []string{"/in/program", test.what},
				Files: map[string][]byte{"program": program}, Limits: limits(),
			}
			spec.Limits.Memory = 64 << 20
			if test.change != nil {
				test.change(&spec.Limits)
			}
			begun := time.Now()
			o := run(t, sb, spec)
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			// The exit code can vary: if the kernel kills bubblewrap first, it cannot report the program's code.
			oom := test.limit == "memory" && (o.ExitCode == -1 || o.ExitCode == 137)
			if o.ExceededLimit != test.limit || o.Signal != test.signal || o.ExitCode != test.code && !oom {
				t.Errorf("limit %q signal %q code %d, want %q %q %d: %.200s", o.ExceededLimit, o.Signal, o.ExitCode,
					test.limit,
					test.signal, test.code, o.Stderr)
			}
			if left := processesOf(firstUID+slot, firstUID+slot+1); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			assertUnharmed(t, sb, slot)
		})
	}
}

func TestNetworkOfTheHostIsNotReached(t *testing.T) {
	sb := newSandbox(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	o := run(t, sb, sandbox.Spec{
		AllowInternetSockets: true,
		Argv:                 []string{"/in/program", "connect", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)},
		Files:                map[string][]byte{"program": buildFaults(t, sb)},
		Limits:               limits(),
	})
	if o.ExitCode != 3 || !strings.Contains(o.Stderr, "connect:") {
		t.Errorf("code %d, %q %q", o.ExitCode, o.Stdout, o.Stderr)
	}
}

func TestDiskBombsFillOnlyTheirOwnDirectory(t *testing.T) {
	sb := newSandbox(t)
	tests := map[string]struct{ script, limit string }{
		"/out":         {"cat /dev/zero >/out/x", "file size"},
		"/out by many": {"i=0; while :; do head -c 1M /dev/zero >/out/$i || exit 9; i=$((i+1)); done", "file size"},
		"/tmp":         {"i=0; while :; do head -c 1M /dev/zero >/tmp/$i || exit 9; i=$((i+1)); done", ""},
		"/dev/shm":     {"cat /dev/zero >/dev/shm/x", ""},
		"one file":     {"ulimit -f; exec cat /dev/zero >/tmp/x", "file size"},
		"files":        {"cd /out; seq 1 20000 | xargs touch", "file size"},
		"/":            {"cat /dev/zero >/x", ""},
		"/dev":         {"cat /dev/zero >/dev/x", ""},
		"memory":       {"cat /dev/zero >/tmp/x", "memory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := shell(test.script)
			if name == "one file" {
				spec.Limits.FileSize = 1 << 20
			}
			if name == "memory" {
				spec.Limits.Memory, spec.Limits.TmpBytes, spec.Limits.FileSize = 32<<20, 1<<30, 1<<30
			}
			if o := run(t, sb, spec); o.ExitCode == 0 || o.ExceededLimit != test.limit {
				t.Errorf("code %d limit %q, want limit %q: %s", o.ExitCode, o.ExceededLimit, test.limit, o.Stderr)
			}
			assertUnharmed(t, sb, 0)
		})
	}
}

func TestKernelSettingsAndOtherPeoplesFilesAreOutOfReach(t *testing.T) {
	sb := newSandbox(t)
	spec := shell(`for f in /etc/shadow /etc/passwd /etc/hostname /root /home /var /run /sys /boot /opt; do test -e $f && echo "$f is there"; done
		(echo x >/proc/sys/kernel/core_pattern) 2>/dev/null && echo "core_pattern was written"
		(echo 1 >/proc/sysrq-trigger) 2>/dev/null && echo "sysrq was written"
		ls /proc/1/* && echo "bubblewrap's process is there: its memory, its arguments"
		grep -as "gr"4il /proc/[0-9]*/cmdline && echo "a command line holds a secret of the environment"
		test "$(id -u)" = 0 && echo "is root"
		unshare -U true 2>/dev/null && echo "made a user namespace"
		exit 0`)
	spec.MountProc, spec.Env = true, map[string]string{"POPCORN_SEED": "gr4il"}
	if o := run(t, sb, spec); o.ExitCode != 0 || o.Stdout != "" {
		t.Errorf("code %d: %s%s", o.ExitCode, o.Stdout, o.Stderr)
	}
}

func TestSelfTestHoldsOnThisMachine(t *testing.T) {
	sb := newSandbox(t)
	begun := time.Now()
	lines := sb.SelfTest(context.Background())
	if len(lines) < 15 {
		t.Errorf("only %d lines", len(lines))
	}
	for _, line := range lines {
		if !line.Passed || line.Detail == "" || strings.HasPrefix(line.Detail, "degraded") {
			t.Errorf("%+v", line)
		}
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestSelfTestFindsANetwork checks that the self-test fails if bubblewrap gives programs the server's network: on
// loopback, and on each other kind of address of this machine.
func TestSelfTestFindsANetwork(t *testing.T) {
	real, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "bwrap-") // not in /tmp, where a run's own mount hides files
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// The wrapper adds --share-net after the options that bubblewrap reads from a descriptor (--args N); the last
	// option counts.
	wrapper := "#!/bin/sh\nargs=$1 number=$2; shift 2\nexec " + real + " \"$args\" \"$number\" --share-net \"$@\"\n"
	if err := errors.Join(os.Chmod(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "bwrap"), []byte(wrapper), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	lines := newSandbox(t).SelfTest(context.Background())
	for _, line := range lines {
		if line.Name != "no network" {
			continue
		}
		for _, kind := range []func(net.IP) bool{net.IP.IsLoopback, net.IP.IsGlobalUnicast} {
			addresses := addressesOf(t, kind)
			named := func(address string) bool { return strings.Contains(line.Detail, "connection to "+address+":") }
			if line.Passed || len(addresses) > 0 && !slices.ContainsFunc(addresses, named) {
				t.Errorf("a program in the server's network reaches none of %v: %+v", addresses, line)
			}
		}
		return
	}
	t.Errorf("no one looked for a network: %+v", lines)
}

// addressesOf returns this machine's addresses of one kind, in the form of "ADDRESS:PORT".
func addressesOf(t *testing.T, kind func(net.IP) bool) (list []string) {
	t.Helper()
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range own {
		if ip := address.(*net.IPNet).IP; kind(ip) {
			list = append(list, strings.TrimSuffix(net.JoinHostPort(ip.String(), ""), ":"))
		}
	}
	return list
}
