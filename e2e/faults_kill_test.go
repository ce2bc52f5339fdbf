package e2e

import (
	"crypto/rand"
	"testing"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// slowBuild is C++ that takes the compiler seconds; each constant stays below the compiler's limit for constant
// expressions.
const slowBuild = `
template <int N> constexpr long burn() {
    long sum = 0;
    for (int i = 0; i < 100; ++i) for (int j = 0; j < 3000; ++j) sum += i ^ j ^ N;
    return sum;
}
constexpr long burnt0 = burn<0>(), burnt1 = burn<1>(), burnt2 = burn<2>(), burnt3 = burn<3>();
`

// kernelSlowIn returns a kernel that is slow in one state of its run. It detects the state by the seeds of the cases:
// those in the task's files are below 100, those of the ranked stage above.
func kernelSlowIn(state work.RunState) string {
	switch state {
	case work.StateBuilding:
		return kernel("/* "+rand.Text()+" */") + slowBuild // a unique source, so that no cached build exists
	case work.StateTesting:
		return kernel(once("if (data.seed == 11) sleep(2);"))
	case work.StateBenchmarking:
		return kernel("if (data.seed == 12) usleep(400000);")
	case work.StateRanking:
		return kernel("if (data.seed > 100) usleep(400000);")
	}
	return kernel("")
}

// modeOf returns the mode of a run that reaches a state: ranked if possible.
func modeOf(state work.RunState) job.Mode {
	if state == work.StateBenchmarking {
		return job.ModeBenchmark
	}
	return job.ModeRanked
}

// TestKillServerInEachState kills the server in every state of a run, like a power failure, and restarts it with the
// data on the disk. Each run must end exactly once, and the board must have one entry per person. Only one of the
// waiting runs is ranked, because measuring takes seconds. The small test tier kills the server in one state only.
func TestKillServerInEachState(t *testing.T) {
	t.Parallel()
	s := startTaskSite(t)
	var runs []client.Run
	finish := func(p person, id int64, mode job.Mode) {
		run := p.ended(id)
		if err := wantState(run, work.StateDone); err != nil {
			t.Errorf("submission %d: %v", id, err)
		}
		endsOnce(t, p, id)
		if mode == job.ModeRanked {
			runs = append(runs, run)
		}
	}
	states := []work.RunState{work.StateRanking, work.StateBuilding, work.StateTesting, work.StateBenchmarking}
	if !tier.Has(t, tier.Faults) {
		states = states[:1]
	}
	for _, state := range states {
		working := s.person(t, "in "+string(state), accounts.RoleUser)
		waiting := s.person(t, "behind "+string(state), accounts.RoleUser)
		first := working.submit(modeOf(state), kernelSlowIn(state))
		working.reach(first, state)
		mode := job.ModeTest
		if state == work.StateBuilding {
			mode = job.ModeRanked
		}
		second := waiting.submit(mode, kernel("")) // it waits, because the first run has the only slot
		waiting.reach(second, work.StateQueued)
		s.kill()
		s.leavesNothing(t)
		s.up(t)
		finish(working, first, modeOf(state))
		finish(waiting, second, mode)
	}
	wantBoard(t, s, runs)
}

// endsOnce reads all events of a run. The end of the run must be in exactly one, the last.
func endsOnce(t *testing.T, p person, id int64) {
	t.Helper()
	var ends, after int
	err := p.Watch(t.Context(), id, 0, func(e client.Event) error {
		if ends > 0 {
			after++
		}
		if e.Detail == nil && work.RunState(e.State).IsFinal() {
			ends++
		}
		return nil
	})
	if err != nil || ends != 1 || after != 0 {
		t.Errorf("submission %d: it ended %d times with %d events after that (%v)", id, ends, after, err)
	}
}

// wantBoard checks that the board has exactly these runs, the fastest first.
func wantBoard(t *testing.T, s *site, runs []client.Run) {
	t.Helper()
	board, err := client.New(s.url, "").Board(t.Context(), smallTask, "CPU", 1)
	if err != nil {
		t.Fatal(err)
	}
	if board.Total != len(runs) {
		t.Errorf("%d entries of %d people", board.Total, len(runs))
	}
	scores := map[float64]int{}
	for _, run := range runs {
		if run.ScoreNS == nil {
			t.Fatalf("run %d has no score: %+v", run.ID, run.Failure)
		}
		scores[*run.ScoreNS]++
	}
	rank := 0
	for i, e := range board.Entries {
		if scores[e.ScoreNS]--; scores[e.ScoreNS] < 0 {
			t.Errorf("entry of %s with the score of no run: %v", e.User.Name, e.ScoreNS)
		}
		if i == 0 || e.Rank != board.Entries[i-1].Rank { // tied entries share the rank of the first of them
			rank = i + 1
		}
		if e.Rank != rank || i > 0 && (e.ScoreNS < board.Entries[i-1].ScoreNS || e.Rank == board.Entries[i-1].Rank &&
			!e.Tied) {
			t.Errorf("entry %d has rank %d: %+v", i, e.Rank, board.Entries)
		}
	}
}
