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

// slowBuild keeps the compiler busy for seconds, each piece within its limit for constants.
const slowBuild = `
template <int N> constexpr long burn() {
    long sum = 0;
    for (int i = 0; i < 100; ++i) for (int j = 0; j < 3000; ++j) sum += i ^ j ^ N;
    return sum;
}
constexpr long burnt0 = burn<0>(), burnt1 = burn<1>(), burnt2 = burn<2>(), burnt3 = burn<3>();
`

// lingering returns a kernel that is slow in one state of its run. It detects the state by the seeds: the task's own
// are below 100, the ranked stage's are not.
func lingering(state work.RunState) string {
	switch state {
	case work.StateBuilding:
		return kernel("/* "+rand.Text()+" */") + slowBuild // no one has built it
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

// TestKillServerInEachState simulates a power cut in every state of a run and starts the server again with the data on
// the disk: each run ends exactly once, and the board has one entry per person. Of the runs that waited behind these,
// one is ranked: the others wait in the same way, and measuring each takes seconds. The small tier kills the server in
// one state.
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
		first := working.submit(modeOf(state), lingering(state))
		working.reach(first, state)
		mode := job.ModeTest
		if state == work.StateBuilding {
			mode = job.ModeRanked
		}
		second := waiting.submit(mode, kernel("")) // the only slot is taken
		waiting.reach(second, work.StateQueued)
		s.kill()
		s.leavesNothing(t)
		s.up(t)
		finish(working, first, modeOf(state))
		finish(waiting, second, mode)
	}
	wantBoard(t, s, runs)
}

// endsOnce reads all events of a run: its end must be reported exactly once, and last.
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
		if i == 0 || e.Rank != board.Entries[i-1].Rank { // who is in a tie has the rank of its first
			rank = i + 1
		}
		if e.Rank != rank || i > 0 && (e.ScoreNS < board.Entries[i-1].ScoreNS || e.Rank == board.Entries[i-1].Rank &&
			!e.Tied) {
			t.Errorf("entry %d has rank %d: %+v", i, e.Rank, board.Entries)
		}
	}
}
