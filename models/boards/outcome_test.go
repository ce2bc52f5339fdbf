package boards_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/views/format"
)

// outcome returns a short form of a run's outcome: "1 of 3, was 2 by 150, next Ben 2= 150".
func outcome(t *testing.T, s *models.Store, run work.Run) string {
	t.Helper()
	run = modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
	outcomes, _, err := s.Boards.Outcomes(t.Context(), run.BoardEntry())
	o := outcomes[run.ID]
	modelstest.Check(t, err)
	if o == nil {
		return "none"
	}
	text := fmt.Sprintf("%s of %d", format.Rank(o.Rank, o.Tied), o.PeopleOnBoard)
	if o.TiedWithCount > 0 {
		text += fmt.Sprintf(", tied with %d", o.TiedWithCount)
	}
	switch {
	case o.IsPersonsFirst:
		text += ", first"
	case o.IsEntry:
		text += ", entry"
	}
	if o.IsRecord {
		text += ", record"
	}
	if o.BestRun != 0 {
		text += fmt.Sprintf(", best %s with %g", format.Rank(o.BestRank, o.BestTied), o.BestNS)
	}
	if o.NextRun != 0 {
		text += fmt.Sprintf(", next %s %s with %g", o.NextUser, format.Rank(o.NextRank, o.NextTied), o.NextNS)
	}
	return text
}

func TestAnOutcomeNamesThePlaceTheBestBeforeAndTheNext(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		cleo := modelstest.Person(t, s, "Cleo", accounts.RoleUser)
		alone := w.Score(t, s, w.Ann, 300)
		messages := []string{outcome(t, s, alone)}
		w.Score(t, s, w.Ben, 150)
		w.Score(t, s, cleo, 150)
		better := w.Score(t, s, w.Ann, 200)
		worse := w.Score(t, s, w.Ann, 250)
		messages = append(messages, outcome(t, s, better), outcome(t, s, worse))
		record := w.Score(t, s, w.Ann, 100)
		messages = append(messages, outcome(t, s, record), outcome(t, s, better))
		tied := w.Score(t, s, cleo, 100)
		messages = append(messages, outcome(t, s, tied), outcome(t, s, record))
		want := []string{
			"1 of 1, first, record",
			"3 of 3, entry, best 3 with 300, next Cleo 1= with 150",
			"3 of 3, best 3 with 200, next Cleo 1= with 150",
			"1 of 3, entry, record, best 3 with 200, next Ben 2= with 150",
			"1 of 3, best 1 with 100, next Ben 2= with 150",
			"1= of 3, tied with 1, entry, best 2 with 150, next Ann 1= with 100",
			"1= of 3, tied with 1, entry, record, best 3 with 200, next Cleo 1= with 100",
		}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
	})
}

func TestARunOfOlderSoftwareHasNoPlaceInItsOutcome(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		old := w.ScoreIn(t, s, w.Ben, 90, "570")
		w.ScoreIn(t, s, w.Ann, 125, "580")
		if message := outcome(t, s, old); message != "– of 0, first" {
			t.Errorf("the old run's outcome is %q", message)
		}
		w.ScoreIn(t, s, w.Ben, 180, "580")
		if message := outcome(t, s, old); message != "2 of 2" {
			t.Errorf("beside an entry of newer software its outcome is %q", message)
		}
	})
}

// TestAnOutcomeSaysWhereTheDataShowNoDifference checks that an outcome reports two scores as not distinguishable if
// their intervals touch, however wide one of the intervals is.
func TestAnOutcomeSaysWhereTheDataShowNoDifference(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		measured := func(who accounts.User, ns, share float64) work.Run {
			low, high := ns*(1-share), ns*(1+share)
			return w.Measured(t, s, who, ns, boards.Interval{LowNS: &low, HighNS: &high, Processes: 5})
		}
		entry := measured(w.Ann, 100, 0.01)
		bens := measured(w.Ben, 90, 0.002)
		for _, tt := range []struct {
			run        work.Run
			best, next bool
		}{
			{measured(w.Ann, 548, 0.9), true, true},
			{measured(w.Ann, 548, 0.5), false, false},
			{measured(w.Ann, 100.4, 0), true, false}, // the difference is smaller than minScoreDifference
			{entry, false, false},
			{bens, false, false},
		} {
			run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), tt.run.ID))
			outcomes, _, err := s.Boards.Outcomes(t.Context(), run.BoardEntry())
			o := outcomes[run.ID]
			modelstest.Check(t, err)
			if o.BestWithinNoise != tt.best || o.NextWithinNoise != tt.next {
				t.Errorf("%v ns, %v to %v: unclear are the best %v, the next %v", *run.ScoreNS, *run.LowNS, *run.HighNS,
					o.BestWithinNoise, o.NextWithinNoise)
			}
		}
	})
}

// TestAnOutcomeSaysWhyAnEntryRanksBehindOneThatIsNotClearlyFaster checks that the outcomes of both entries have the
// reason.
func TestAnOutcomeSaysWhyAnEntryRanksBehindOneThatIsNotClearlyFaster(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		cleo, dan := modelstest.Person(t, s, "Cleo", accounts.RoleUser),
			modelstest.Person(t, s, "Dan", accounts.RoleUser)
		why := func(run work.Run) string {
			run = modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
			outcomes, _, err := s.Boards.Outcomes(t.Context(), run.BoardEntry())
			o := outcomes[run.ID]
			modelstest.Check(t, err)
			return fmt.Sprintf("%s, next %s %s", format.Rank(o.Rank, o.Tied), format.Rank(o.NextRank, o.NextTied),
				o.NextRankReason)
		}
		measured := func(who accounts.User, ns, low, high float64) work.Run {
			return w.Measured(t, s, who, ns, boards.Interval{LowNS: &low, HighNS: &high, Processes: 5})
		}
		first := measured(w.Ann, 100, 99.9, 100.1)
		uneven := measured(w.Ben, 110, 10, 210)
		messages := []string{why(first), why(uneven)}
		measured(cleo, 100.4, 100.2, 101.2)
		messages = append(messages, why(measured(dan, 101, 100.9, 101.1)))
		want := []string{"1, next 2 wide", "2, next 1 wide", "3, next 1= first"}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
	})
}
