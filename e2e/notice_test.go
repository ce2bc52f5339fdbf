package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// TestALeavingMachineHandsBackLongRunsAtOnce gives a worker notice that its machine stops in five minutes. Past runs
// took an hour in benchmark mode and no time in test mode: the worker must hand back the benchmark at once, and finish
// the test.
func TestALeavingMachineHandsBackLongRunsAtOnce(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s, nats := startOpenSite(t)
	ada := s.person(t, "Ada", accounts.RoleUser)
	first, notice := sandboxtest.FirstUID(t), filepath.Join(t.TempDir(), "notice")
	leaving := s.startWorker(t, nats, "rack-1", "--first-uid", strconv.Itoa(first), "--cpu-slots", "2", "--grace",
		"30s", "--notice-file", notice)
	here := fmt.Sprintf("getuid() >= %d && getuid() < %d", first, first+sandboxtest.RangeSize)
	past := ada.submit(job.ModeBenchmark, kernel(""))
	if err := wantState(ada.ended(past), work.StateDone); err != nil {
		t.Fatal(err)
	}
	store, err := models.Open(t.Context(), models.Config{Dir: s.data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if res, err := store.SQL().ExecContext(t.Context(),
		"update runs set unit_ns = $1 where submission_id = $2 and unit_ns > 0", time.Hour.Nanoseconds(),
		past); err != nil {
		t.Fatal(err)
	} else if n, _ := res.RowsAffected(); n != 1 {
		t.Fatal("no one noted how long the run held its unit")
	}
	long := ada.submit(job.ModeBenchmark, kernel("while ("+here+") sleep(1);"))
	ada.reach(long, work.StateBenchmarking)
	short := ada.submit(job.ModeTest, kernel(once("sleep(2);")))
	ada.reach(short, work.StateTesting)

	given := time.Now()
	if err := os.WriteFile(notice, []byte("5m"), 0o600); err != nil {
		t.Fatal(err)
	}
	ada.reach(long, work.StateQueued)
	t.Logf("the run that takes too long was handed back %s after the notice",
		time.Since(given).Round(10*time.Millisecond))
	run := ada.ended(short)
	if err := wantState(run, work.StateDone); err != nil || run.Machine.Worker != "rack-1" || run.Attempts != 1 {
		t.Errorf("the run that could end: %v, by %s in attempt %d", err, run.Machine.Worker, run.Attempts)
	}
	select {
	case <-leaving.done:
	case <-time.After(tier.Patience()):
		t.Fatal("the worker stays on a machine that goes away")
	}
	if code, took := leaving.cmd.ProcessState.ExitCode(), time.Since(given); code != 0 || took > 4*time.Minute {
		t.Errorf("it ended with code %d, %s after the notice", code, took)
	}
	s.startWorker(t, nats, "rack-2")
	run = ada.ended(long)
	if err := wantState(run, work.StateDone); err != nil || run.Machine.Worker != "rack-2" || run.Attempts != 2 {
		t.Errorf("the run that was handed back: %v, by %s in attempt %d", err, run.Machine.Worker, run.Attempts)
	}
	if stored, err := store.Work.Run(t.Context(), run.ID); err != nil || stored.Losses != 0 || stored.Retries != 0 {
		t.Errorf("%d losses count of %d, %v", stored.Losses, stored.Retries, err)
	}
}
