package sandboxtest

import (
	"os/exec"
	"syscall"
	"testing"
)

func TestUserIDsBelongToOneAtATime(t *testing.T) {
	first, release, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	if second := FirstUID(t); second == first {
		t.Errorf("%d was given to two", first)
	}
	release()
	release() // a second call must do nothing
}

func TestUserIDsOfARunningProcessAreNotGivenOut(t *testing.T) {
	first, release, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if inUse(first) {
		t.Fatalf("%d was given out while in use", first)
	}
	sleeper := exec.Command("sleep", "1000")
	sleeper.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(first + RangeSize - 1)}}
	if err := sleeper.Start(); err != nil {
		t.Skipf("only root may start a process of another user: %v", err)
	}
	t.Cleanup(func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	})
	if !inUse(first) {
		t.Error("ids that a process has count as free")
	}
}
