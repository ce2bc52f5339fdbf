package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// answers waits until the site responds to a path with a status.
func (s *site) answers(t *testing.T, path string, status int) {
	t.Helper()
	tier.WaitFor(t, fmt.Sprintf("%s to answer %d", path, status), func() error {
		resp, err := http.Get(s.url + path)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			return errors.New(resp.Status)
		}
		return nil
	})
}

// TestANearlyFullDiskEndsNoRun nearly fills the disk under a running site and frees it again, then kills and restarts
// the site. All accepted runs must be evaluated, and runs that were still waiting in their first attempt.
func TestANearlyFullDiskEndsNoRun(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	disk := sandboxtest.Disk(t, "512m")
	s := startTaskSite(t, "--data", filepath.Join(disk, "data"), "--min-free-disk", "64")
	s.data = filepath.Join(disk, "data")
	ada := s.person(t, "Ada", accounts.RoleUser)
	s.answers(t, "/readyz", http.StatusOK)

	filler := filepath.Join(disk, "filler")
	fillDisk(t, filler, 32<<20)
	s.answers(t, "/readyz", http.StatusServiceUnavailable)
	s.answers(t, "/healthz", http.StatusOK)
	_, err := ada.Submit(t.Context(),
		client.NewSubmission{Task: smallTask, Devices: []string{"CPU"}, Mode: job.ModeTest, Source: kernel("")})
	if err == nil || !strings.Contains(err.Error(), "the minimum is 64 MiB") {
		t.Errorf("submitted to a disk that is nearly full: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	s.answers(t, "/readyz", http.StatusOK)
	// This run is still in progress when the site is killed, even on a busy machine.
	first := ada.submit(job.ModeTest, kernel(once("sleep(2);")))
	ada.reach(first, work.StateTesting)
	second := ada.submit(job.ModeTest, kernel("")) // it waits, because the first run has the only slot
	s.kill()
	s.leavesNothing(t)
	s.up(t)
	for _, id := range []int64{first, second} {
		if err := wantState(ada.ended(id), work.StateDone); err != nil {
			t.Errorf("submission %d: %v\n%s", id, err, s.log)
		}
	}
	if run := ada.look(second); run.Attempts != 1 {
		t.Errorf("the run that waited took %d attempts", run.Attempts)
	}
}

// fillDisk fills the disk until only the given number of bytes is free.
func fillDisk(t *testing.T, path string, left int64) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 1<<20); err == nil; _, err = file.Write(block) {
	}
	size, seekErr := file.Seek(0, io.SeekEnd)
	if !errors.Is(err, unix.ENOSPC) || seekErr != nil {
		t.Fatal(err, seekErr)
	}
	if err := file.Truncate(size - left); err != nil {
		t.Fatal(err)
	}
}
