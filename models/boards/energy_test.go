package boards_test

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
		w := modelstest.NewWorld(t, s)
		drawn := func(who accounts.User, ns, joules float64) {
			attempt, err := s.Work.StartAttempt(t.Context(), w.Submit(t, s, who).Ref())
			modelstest.Check(t, err)
			r := modelstest.Result(attempt, ns)
			r.Machine.Energy = &job.Energy{Joules: joules, Why: map[bool]string{true: "nothing counts"}[joules == 0]}
			_, err = s.Work.RecordResult(t.Context(), r, work.Findings{Score: &work.Score{NS: ns}})
			modelstest.Check(t, err)
		}
		drawn(w.Ann, 100, 3)
		drawn(w.Ann, 200, 1) // not their best
		drawn(w.Ben, 150, 2)
		drawn(w.Admin, 50, 0)
		want := []string{"3 Ben 2", "2 Ann 3"}
		for range 2 {
			page := modelstest.Got[boards.Page](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.Part{Limit: 10, ByEnergy: true}))
			var list []string
			for _, st := range page.Standings {
				list = append(list, fmt.Sprintf("%d %s %g", st.Rank, st.UserName, *st.EnergyJ))
			}
			if diff := cmp.Diff(want, list); diff != "" {
				t.Errorf("by energy:\n%s", diff)
			}
			second := modelstest.Got[boards.Page](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.Part{Offset: 1, Limit: 10, ByEnergy: true}))
			if len(second.Standings) != 1 || second.Standings[0].UserName != "Ann" {
				t.Errorf("from the second on: %+v", second.Standings)
			}
			modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
		}
	})
}
