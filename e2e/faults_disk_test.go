package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/models/accounts"
	"warpboard/models/work"
	"warpboard/web/client"
)

// answers waits until an address answers with a status.
func (s *site) answers(t *testing.T, path string, status int) {
	t.Helper()
	waitFor(t, patience, fmt.Sprintf("%s to answer %d", path, status), func() error {
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

// TestANearlyFullDiskAndACorruptQueueCostNobodyARun nearly fills the disk under a running site and empties it again, then
// kills the site, ruins its queue's files and starts it. What was accepted is evaluated, at the first attempt.
func TestANearlyFullDiskAndACorruptQueueCostNobodyARun(t *testing.T) {
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
	_, err := ada.Submit(t.Context(), client.NewSubmission{Task: smallTask, Devices: []string{"CPU"}, Mode: job.ModeTest, Source: kernel("")})
	if err == nil || !strings.Contains(err.Error(), "keeps 64 MiB free") {
		t.Errorf("submitted to a disk that is nearly full: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	s.answers(t, "/readyz", http.StatusOK)
	first := ada.submit(job.ModeTest, kernel(once("sleep(2);"))) // longer than a busy machine takes until the site is killed
	ada.reach(first, work.StateTesting)
	second := ada.submit(job.ModeTest, kernel("")) // the only slot is taken: its job waits in the queue
	waitFor(t, patience, "the second job to be in the queue", func() error { return queued(s.data, 2) })
	s.kill()
	s.leavesNothing(t)
	ruin(t, filepath.Join(s.data, "queue"))
	s.up(t)
	for _, id := range []int64{first, second} {
		if err := wantState(ada.ended(id), work.StateDone); err != nil {
			t.Errorf("submission %d: %v\n%s", id, err, s.log)
		}
	}
	if run := ada.look(second); run.Attempts != 1 {
		t.Errorf("the run that waited took %d attempts", run.Attempts)
	}
	if text := s.log.String(); !strings.Contains(text, "set aside") {
		t.Errorf("the log does not say what became of the queue's folder:\n%s", text)
	}
}

// fillDisk leaves so many bytes on the disk.
func fillDisk(t *testing.T, path string, room int64) {
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
	if err := file.Truncate(size - room); err != nil {
		t.Fatal(err)
	}
}

// queued fails unless the queue's files hold n jobs.
func queued(data string, n int) error {
	have := 0
	err := filepath.WalkDir(filepath.Join(data, "queue"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".blk") && strings.Contains(path, "JOBS") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			have += bytes.Count(text, []byte(`"attempt_id":`))
		}
		return err
	})
	if err == nil && have < n {
		err = fmt.Errorf("%d jobs were written", have)
	}
	return err
}

// ruin overwrites every file.
func ruin(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.WriteFile(path, bytes.Repeat([]byte("rubbish "), 40), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
