package queue

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
)

// fill leaves no byte on the disk of a folder.
func fill(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := file.Write(block); errors.Is(err, unix.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestAQueueWhoseDiskWasFullCarriesJobsAgain fills the disk under a queue that is in use, and empties it.
// Nothing is restarted by hand; the same connections go on.
func TestAQueueWhoseDiskWasFullCarriesJobsAgain(t *testing.T) {
	disk := sandboxtest.Disk(t, "96m")
	var refills atomic.Int64
	q := openQueue(t, Config{Dir: filepath.Join(disk, "queue"), Listen: "127.0.0.1:0", Authorize: cast,
		Refill: func(context.Context) error { refills.Add(1); return nil }})
	w := dial(t, WorkerConfig{URL: q.Addr(), Name: victim, Secret: "secret-of-" + victim})
	publish(t, q, aJob("a1", "H200"))
	held := receive(t, w, "H200")
	if err := q.Health(t.Context()); err != nil {
		t.Fatal(err)
	}

	filler := fill(t, disk)
	var err error
	for i := 0; err == nil && i < 100; i++ {
		j := aJob("full"+strings.Repeat("x", i), "H200")
		j.Sources["data"] = make([]byte, 1<<20)
		err = publishSoon(t, q, j)
	}
	if err == nil {
		t.Fatal("a full disk takes jobs")
	}
	t.Logf("refused: %v", err)
	if q.Health(t.Context()) == nil {
		t.Error("the queue says that it is well")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	before, freed := refills.Load(), time.Now()
	for publishSoon(t, q, aJob("b1", "H200")) != nil || refills.Load() == before {
		if time.Since(freed) > 90*time.Second {
			t.Fatalf("the queue is dead for good: %v", q.Health(t.Context()))
		}
		<-time.After(lookEvery / 5)
	}
	t.Logf("open again after %v", time.Since(freed))
	done(t, held)
	d := receive(t, w, "H200")
	if err := w.PublishResult(t.Context(), job.Result{AttemptID: d.Job.AttemptID}); err != nil {
		t.Fatal(err)
	}
	done(t, d)
	if ids := record(t, q, 1); ids[0] != "b1" {
		t.Errorf("recorded %v", ids)
	}
	if err := q.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

// publishSoon does not wait for a queue that is down.
func publishSoon(t *testing.T, q *Queue, j job.Job) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return q.Publish(ctx, j)
}

// text is a log that a test reads while it is written.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *text) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *text) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// overwrite puts rubbish into all files of the queue whose path ends so.
func overwrite(t *testing.T, dir, suffix string) {
	t.Helper()
	hit := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		hit++
		return os.WriteFile(path, bytes.Repeat([]byte("rubbish "), 40), 0o600)
	})
	if err != nil || hit == 0 {
		t.Fatalf("%d files end with %q: %v", hit, suffix, err)
	}
}

// TestACorruptFolderIsSetAsideAndTheQueueFilledAgain: whatever a crash or a person did to the files, the next
// start carries jobs, says in the log what it did, and has the jobs published again.
func TestACorruptFolderIsSetAsideAndTheQueueFilledAgain(t *testing.T) {
	for name, c := range map[string]struct {
		harm  func(t *testing.T, dir string)
		aside bool // else the server mends it, or loses what is filled again
	}{
		"streams' settings":       {func(t *testing.T, dir string) { overwrite(t, dir, "meta.inf") }, true},
		"streams' checksums":      {func(t *testing.T, dir string) { overwrite(t, dir, "meta.sum") }, true},
		"messages":                {func(t *testing.T, dir string) { overwrite(t, dir, ".blk") }, false},
		"everything":              {func(t *testing.T, dir string) { overwrite(t, dir, "") }, true},
		"a file for the folder":   {replaceByFile(""), true},
		"a file for JetStream":    {replaceByFile("jetstream"), true},
		"a file for a stream":     {replaceByFile("jetstream/$G/streams/JOBS"), true},
		"a file for the messages": {replaceByFile("jetstream/$G/streams/JOBS/msgs"), true},
		"gone":                    {func(t *testing.T, dir string) { os.RemoveAll(dir) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "queue")
			var q *Queue
			var log text
			cfg := Config{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))}
			q = openQueue(t, cfg)
			publish(t, q, aJob("a1", "CPU"))
			q.Close()
			c.harm(t, dir)

			refilled := false
			cfg.Refill = func(context.Context) error { refilled = true; return nil }
			q = openQueue(t, cfg)
			if !refilled {
				t.Error("nobody was asked to fill it again")
			}
			publish(t, q, aJob("a1", "CPU"))
			w := dial(t, WorkerConfig{Queue: q, Name: "w1"})
			done(t, receive(t, w, "CPU"))
			aside, err := filepath.Glob(dir + ".broken-*")
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(log.String(), "set aside")
			if (len(aside) == 1) != c.aside || said != c.aside {
				t.Errorf("set aside: %v; the log:\n%s", aside, &log)
			}
		})
	}
}

func replaceByFile(path string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, path)
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte("rubbish"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATakenAddressIsNoReasonToSetTheFolderAside(t *testing.T) {
	first := openQueue(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	dir := filepath.Join(t.TempDir(), "queue")
	openQueue(t, Config{Dir: dir}).Close()
	listen := strings.TrimPrefix(first.Addr(), "nats://")
	if q, err := Open(t.Context(), Config{Dir: dir, Listen: listen}); err == nil {
		q.Close()
		t.Error("two queues listen at one address")
	} else if !strings.Contains(err.Error(), listen) {
		t.Errorf("error is %v", err)
	}
	if aside, _ := filepath.Glob(dir + ".broken-*"); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestAFullDiskIsNoReasonToSetTheFolderAside(t *testing.T) {
	disk := sandboxtest.Disk(t, "64m")
	dir := filepath.Join(disk, "queue")
	openQueue(t, Config{Dir: dir}).Close()
	fill(t, disk)
	if q, err := Open(t.Context(), Config{Dir: dir}); err == nil {
		q.Close()
		t.Error("a queue opens on a full disk")
	} else if !strings.Contains(err.Error(), "MiB left") {
		t.Errorf("error is %v", err)
	}
	if aside, _ := filepath.Glob(dir + ".broken-*"); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
}
