package models_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestTheSecondOrderUsesMeasuredEnergy, of each person's best run, and outlives a rebuild of the boards.
func TestTheSecondOrderUsesMeasuredEnergy(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		drawn := func(who accounts.User, ns, joules float64) {
			attempt, err := s.Work.StartAttempt(t.Context(), w.submit(t, s, who).Ref())
			check(t, err)
			r := modelstest.Result(attempt, ns)
			r.Machine.Energy = &job.Energy{Joules: joules, Why: map[bool]string{true: "nothing counts"}[joules == 0]}
			_, err = s.Work.RecordResult(t.Context(), r, work.Findings{Score: &work.Score{NS: ns}})
			check(t, err)
		}
		drawn(w.ann, 100, 3)
		drawn(w.ann, 200, 1) // not their best
		drawn(w.ben, 150, 2)
		drawn(w.admin, 50, 0)
		want := []string{"3 Ben 2", "2 Ann 3"}
		for range 2 {
			page := got[boards.Page](t)(s.Boards.Board(t.Context(), w.task.VersionID, "CPU", boards.Part{Limit: 10, ByEnergy: true}))
			var list []string
			for _, st := range page.Standings {
				list = append(list, fmt.Sprintf("%d %s %g", st.Rank, st.UserName, *st.EnergyJ))
			}
			if diff := cmp.Diff(want, list); diff != "" {
				t.Errorf("by energy:\n%s", diff)
			}
			second := got[boards.Page](t)(s.Boards.Board(t.Context(), w.task.VersionID, "CPU", boards.Part{Offset: 1, Limit: 10, ByEnergy: true}))
			if len(second.Standings) != 1 || second.Standings[0].UserName != "Ann" {
				t.Errorf("from the second on: %+v", second.Standings)
			}
			check(t, s.Boards.RebuildEntries(t.Context()))
		}
	})
}
