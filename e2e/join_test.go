package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/fleet"
	"warpboard/models/work"
)

// joinToken creates a token for workers of the CPU device in the running server's database.
func (s *site) joinToken(t *testing.T) string {
	t.Helper()
	store, err := models.Open(t.Context(), models.Config{Dir: s.data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	token, _, err := store.Fleet.CreateJoinToken(context.WithoutCancel(t.Context()),
		accounts.User{Name: "test", Role: accounts.RoleAdmin},
		fleet.NewJoinToken{Name: "burst", Devices: []string{"CPU"}, MaxWorkers: 1, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestAWorkerJoinsByATokenDoesOneJobAndIsForgotten queues a job for a device without a worker, then starts a worker
// with a join token and --once. The kernel must not find the token in its environment.
func TestAWorkerJoinsByATokenDoesOneJobAndIsForgotten(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s := startTaskSite(t, "--no-worker")
	ada := s.person(t, "Ada", accounts.RoleUser)
	id := ada.submit(job.ModeRanked, kernel(`
    FILE *env = fopen("/proc/self/environ", "r");
    char text[65536] = {}; size_t n = env ? fread(text, 1, sizeof text - 1, env) : 0;
    for (size_t i = 0; i + 4 < n; i++) if (!memcmp(text + i, "wbj_", 4)) exit(9);`))
	w := startWith(t, []string{"WARPBOARD_JOIN=" + s.joinToken(t)}, "work", "--first-uid",
		strconv.Itoa(sandboxtest.FirstUID(t)), "--site", s.url, "--once",
		"--data", filepath.Join(t.TempDir(), "burst"), "--cpu-slots", "1", "--warm-python", "0", "--ranked-processes",
		"1")
	run := ada.ended(id)
	if err := wantState(run, work.StateDone); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.done:
	case <-time.After(tier.Patience()):
		t.Fatal("the worker stays after its one job")
	}
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the worker ended with code %d", code)
	}
	store, err := models.Open(t.Context(), models.Config{Dir: s.data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	tier.WaitFor(t, "the worker to be forgotten", func() error {
		left, err := store.Fleet.Credentials(t.Context())
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%s has a credential", left[0].Name)
		}
		return err
	})
}
