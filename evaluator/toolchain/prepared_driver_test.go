package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/evaluator/sandbox"
)

// standInDriver takes memory, so that it takes a while to die, and does two things that NVIDIA's driver library does when it starts: it
// loads the library that a file in /dev/shm names, and looks for the socket of MPS in /tmp.
const standInDriver = `
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int cuInit(unsigned flags) {
	char path[4096] = {0};
	int fd = open("/dev/shm/cuda_injection_path_shm", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, path, sizeof path - 1) > 0) dlopen(path, RTLD_NOW);
	if (fd >= 0) close(fd);
	struct sockaddr_un at = {AF_UNIX, "/tmp/nvidia-mps/control"};
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connect(s, (struct sockaddr *)&at, sizeof at) == 0) (void)!read(s, path, sizeof path);
	close(s);
	return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
	memset(malloc(100 << 20), 1, 100 << 20);
	return 0;
}
`

// injected says in the stage that its process serves that it is there.
const injected = `
#include <pthread.h>
#include <unistd.h>
static void *later(void *unused) {
	for (;;) { usleep(1000); (void)!write(1, "INJECTED now\n", 13); }
}
__attribute__((constructor)) static void begin(void) { pthread_t thread; pthread_create(&thread, 0, later, 0); }
`

// withDriver puts the stand-in, and the library that is to be injected, into /driver.
func withDriver(t *testing.T) func(*Place) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "driver")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, source := range map[string]string{"libcuda.so.1": standInDriver, "evil.so": injected} {
		cmd := exec.CommandContext(t.Context(), "gcc", "-shared", "-fPIC", "-o", filepath.Join(dir, name), "-x", "c", "-", "-lpthread", "-ldl")
		cmd.Stdin = strings.NewReader(source)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return func(at *Place) {
		at.Env = map[string]string{"LD_LIBRARY_PATH": "/driver"}
		at.Mounts = []sandbox.Mount{{Host: dir, Inside: "/driver"}}
	}
}

// TestNoStageIsThereWhenTheDriverStarts in a process that serves a later one: the driver reads files that a stage can write.
func TestNoStageIsThereWhenTheDriverStarts(t *testing.T) {
	serve := obeying(t, withDriver(t))
	first := serve(`
os.mkdir("/tmp/nvidia-mps")
with open("/dev/shm/cuda_injection_path_shm", "w") as file:
    file.write("/driver/evil.so")
os.kill(os.getppid(), signal.SIGSTOP)
os.kill(os.getppid(), signal.SIGCONT)
`, 5)
	if len(strings.Fields(first["others"])) != 4 {
		t.Fatalf("what waits: %v", first)
	}
	for range 5 {
		if next := serve("import select; select.select([], [], [], 0.05)", 5); next["INJECTED"] != "" {
			t.Error("code of one stage runs in the process of a later one")
		}
	}
}

// TestWhatAStageKilledIsGoneWhenItHasEnded: the judge measures its constants then.
func TestWhatAStageKilledIsGoneWhenItHasEnded(t *testing.T) {
	serve := obeying(t, withDriver(t))
	serve("sys.stdout.flush(); [os.kill(pid, signal.SIGKILL) for pid in others()]; os._exit(0)", 5)
	status, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, file := range status {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), fmt.Sprintf("\nUid:\t%d\t", firstUID)) {
			left++
		}
	}
	if left > 3 { // bubblewrap, its child, and the warm Python
		t.Errorf("%d processes are there", left)
	}
}
