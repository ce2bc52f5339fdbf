package e2e

import (
	"errors"
	"slices"
	"testing"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// TestCancelInEveryState cancels a run in every state through the API. The run must end at once as cancelled, leave no
// process or file, and free its slot for the next run.
func TestCancelInEveryState(t *testing.T) {
	tier.Needs(t, tier.Faults)
	s := startTaskSite(t)
	ada := s.person(t, "Ada", accounts.RoleUser)
	for _, state := range []work.RunState{work.StateQueued, work.StateBuilding, work.StateTesting,
		work.StateBenchmarking, work.StateRanking} {
		var blocking int64
		if state == work.StateQueued {
			blocking = ada.submit(job.ModeTest, kernel(once("sleep(4);")))
			ada.reach(blocking, work.StateTesting)
		}
		id := ada.submit(modeOf(state), kernelSlowIn(state))
		ada.reach(id, state)
		ada.cancel(id)
		if blocking != 0 {
			ada.cancel(blocking)
		}
		s.leavesNothing(t)
		ada.passes(job.ModeTest)
	}
	board, err := ada.Board(t.Context(), smallTask, "CPU", 1)
	if err != nil || board.Total != 0 {
		t.Errorf("%d entries from cancelled runs (%v)", board.Total, err)
	}
}

// cancel cancels a submission. The response must show the cancelled state, and a second request must be refused.
func (p person) cancel(id int64) {
	p.t.Helper()
	sub, err := p.Cancel(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	if !sub.Ended || slices.ContainsFunc(sub.Runs,
		func(r client.Run) bool { return r.State != string(work.StateCancelled) }) {
		p.t.Errorf("submission %d after it was cancelled: %+v", id, sub)
	}
	var refused *client.Problem
	if _, err := p.Cancel(p.t.Context(), id); !errors.As(err, &refused) || refused.Status != 409 {
		p.t.Errorf("cancelling submission %d again: %v", id, err)
	}
}
