package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
)

// A test that needs a separate server runs this test binary again with one of these roles.
const (
	roleVariable = "WARPBOARD_TEST_ROLE"
	rootVariable = "WARPBOARD_TEST_ROOT"
	uidVariable  = "WARPBOARD_TEST_UID"
)

func TestMain(m *testing.M) {
	var err error
	firstUID, _ = strconv.Atoi(os.Getenv(uidVariable))
	switch os.Getenv(roleVariable) {
	case "":
		// The lock ends with the process.
		if firstUID, _, err = sandboxtest.Reserve(); err == nil {
			os.Exit(m.Run())
		}
	case "hold":
		err = hold()
	case "check":
		err = check()
	case "gate":
		err = sandbox.ServerAtGate(sandbox.Config{FirstUID: firstUID, RunDir: os.Getenv(rootVariable)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hold is a server that runs a program until it is killed.
func hold() error {
	sb := sandbox.New(sandbox.Config{FirstUID: firstUID, RunDir: os.Getenv(rootVariable)})
	spec := shell("echo begun; trap '' TERM HUP; sleep 1000 & sleep 1000")
	spec.Limits.WallTime = 0
	spec.OnStdout = func(b []byte) { os.Stdout.Write(b) }
	_, err := sb.Run(context.Background(), spec)
	return err
}

// check is a server that runs its self-test, and checks for leftovers of its runs.
func check() error {
	sb := sandbox.New(sandbox.Config{RunDir: os.Getenv(rootVariable)})
	lines := sb.SelfTest(context.Background())
	spec := shell(
		"echo x >/out/made; mkdir -p /out/d/e; touch /out/d/e/f; chmod 000 /out/d/e /out/d; ln -s / /out/link; cat /in/file")
	spec.Files = map[string][]byte{"file": []byte("given")}
	spec.CollectFiles = map[string]int64{"made": 10, "link": 10}
	o, err := sb.Run(context.Background(), spec)
	lines = append(lines, job.SelfTestResult{
		Name: "run", Passed: err == nil && o.ExitCode == 0 && o.Stdout == "given" && string(o.Files["made"]) == "x\n" &&
			o.RefusedFiles["link"] != "",
		Detail: fmt.Sprintf("%+v %v", o, err),
	})
	return json.NewEncoder(os.Stdout).Encode(lines)
}

// server returns a command that runs this test binary in a role, with a directory for it.
func server(t *testing.T, role string, uid uint32) (cmd *exec.Cmd, root string) {
	t.Helper()
	// Not t.TempDir, which another user cannot enter.
	dir, err := os.MkdirTemp("", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary, root := filepath.Join(dir, "server"), filepath.Join(dir, "runs")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(root, int(uid), int(uid)); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(binary)
	cmd.Dir = "/"
	cmd.Env = []string{roleVariable + "=" + role, rootVariable + "=" + root,
		fmt.Sprintf("%s=%d", uidVariable, firstUID), "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return cmd, root
}

func TestAServerWithoutRootHasTheSameIsolation(t *testing.T) {
	cmd, root := server(t, "check", uint32(firstUID+99))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var lines []job.SelfTestResult
	if err := json.Unmarshal(out, &lines); err != nil {
		t.Fatal(err)
	}
	var less []string
	for _, line := range lines {
		if !line.Passed {
			t.Errorf("%+v", line)
		}
		if strings.HasPrefix(line.Detail, "degraded: ") {
			less = append(less, line.Name)
		}
	}
	if got := strings.Join(less, ", "); got != "own user, memory bomb, fork bomb, disk bomb" {
		t.Errorf("degraded are: %s", got)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("left in the scratch directory: %v, %v", entries, err)
	}
}

func TestKilledServerTakesItsRunsWithIt(t *testing.T) {
	cmd, root := server(t, "hold", 0)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if left := processesOf(firstUID, firstUID+100); len(left) == 0 {
		t.Fatal("the run has no process")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The output ends when the server has ended: the run inherits no copy of this pipe.
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	for deadline := time.Now().Add(tier.Patience()); ; time.Sleep(5 * time.Millisecond) {
		living, dead := census(firstUID, firstUID+100)
		if len(living) == 0 {
			reap(t, dead)
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes live on: %v", living)
		}
	}
	if left := cgroupsOf(cmd.Process.Pid); len(left) == 0 {
		t.Error("a killed server's run had no cgroup: this test looks in the wrong place")
	}
	// The next server removes leftovers of the killed one, which could not clean up itself.
	dead := filepath.Join(root, fmt.Sprintf("warpboard-%d-1-1", cmd.Process.Pid))
	if err := os.MkdirAll(filepath.Join(dead, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	sb := sandbox.New(sandbox.Config{BuildNice: 1, FirstUID: firstUID, RunDir: root})
	assertUnharmed(t, sb, 0)
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("a dead server's directory is left: %v", err)
	}
	if left := cgroupsOf(cmd.Process.Pid); len(left) > 0 {
		t.Errorf("a dead server's cgroups are left: %v", left)
	}
}

// reap waits for orphans of a killed server, which this process has adopted like any server.
func reap(t *testing.T, dead []int) {
	t.Helper()
	for _, pid := range dead {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			t.Error(err)
		}
	}
}
