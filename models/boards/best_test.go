package boards_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// steps lists the best runs of all people on the board (table bests) as "name score tries".
func steps(t *testing.T, s *models.Store) (out []string) {
	t.Helper()
	rows, err := s.SQL().QueryContext(t.Context(),
		"select u.name, b.score_ns, b.tries from bests b join users u on u.id = b.user_id order by b.achieved_at, b.run_id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var score float64
		var tries int
		if err := rows.Scan(&name, &score, &tries); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %g %d", name, score, tries))
	}
	return out
}

func TestEachPersonsStepsFollowTheirValidRuns(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		w.Score(t, s, w.Ann, 300)
		middle := w.Score(t, s, w.Ann, 200)
		w.Score(t, s, w.Ben, 150)
		w.Score(t, s, w.Ann, 250)
		w.Score(t, s, w.Ann, 100)
		want := []string{"Ann 300 1", "Ann 200 2", "Ben 150 1", "Ann 100 4"}
		if diff := cmp.Diff(want, steps(t, s)); diff != "" {
			t.Errorf("steps:\n%s", diff)
		}
		// Disqualify a run that was Ann's best at its time, but is not her entry.
		if _, err := s.Disqualify(t.Context(), w.Admin, middle.ID, "It knew the answers."); err != nil {
			t.Fatal(err)
		}
		want = []string{"Ann 300 1", "Ben 150 1", "Ann 250 2", "Ann 100 3"}
		if diff := cmp.Diff(want, steps(t, s)); diff != "" {
			t.Errorf("steps without the run that was disqualified:\n%s", diff)
		}
		if err := s.Boards.RebuildEntries(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, steps(t, s)); diff != "" {
			t.Errorf("steps made again:\n%s", diff)
		}
	})
}

func TestABoardIsShownAsItStoodOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		cleo := modelstest.Person(t, s, "Cleo", accounts.RoleUser)
		w.Score(t, s, w.Ann, 300)
		w.Score(t, s, w.Ben, 200)
		w.Score(t, s, cleo, 200.5)
		then := ended(t, s, w.Score(t, s, w.Ann, 250))
		w.Score(t, s, w.Ann, 100)
		past := func(at time.Time) (out []string) {
			list, bands, err := s.Boards.StandingsAt(ctx, w.Task.VersionID, "CPU", at)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, b := range bands {
				sum += int(b.EntryCount)
			}
			for _, e := range list {
				out = append(out, fmt.Sprintf("%d %s %g in %d, tied %v", e.Rank, e.UserName, e.ScoreNS, e.TryCount,
					e.Tied))
			}
			return append(out, fmt.Sprint(len(bands), " bands of ", sum))
		}
		want := []string{"1 Ben 200 in 1, tied true", "1 Cleo 200.5 in 1, tied true", "3 Ann 250 in 2, tied false",
			"2 bands of 3"}
		if diff := cmp.Diff(want, past(then)); diff != "" {
			t.Errorf("as it stood:\n%s", diff)
		}
		if diff := cmp.Diff([]string{"0 bands of 0"}, past(then.AddDate(-1, 0, 0))); diff != "" {
			t.Errorf("before anybody:\n%s", diff)
		}
		if got := past(then.AddDate(1, 0, 0)); got[0] != "1 Ann 100 in 3, tied false" {
			t.Errorf("as it stands: %v", got)
		}
	})
}

func TestAPartOfABoardHasTheViewersEntryOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		for i := range 7 {
			w.Score(t, s, modelstest.Person(t, s, fmt.Sprintf("Person %d", i), accounts.RoleUser), 1000*float64(i+1))
		}
		before := ended(t, s, w.Score(t, s, w.Ann, 3500))
		w.Score(t, s, w.Ann, 3200)
		head := modelstest.Got[boards.BoardHead](t)(s.Boards.ReadHead(ctx, w.Task.VersionID, "CPU"))
		text := func(e boards.Standing) string {
			text := fmt.Sprintf("%d %s in %d", e.Rank, e.UserName, e.TryCount)
			if e.BestAtCompareTimeNS != nil && *e.BestAtCompareTimeNS != e.ScoreNS {
				text += fmt.Sprintf(", before %g", *e.BestAtCompareTimeNS)
			}
			return text
		}
		show := func(offset, limit int) (out []string) {
			shown, own, err := s.Boards.ReadCachedPart(ctx, head,
				boards.BoardPartQuery{Offset: offset, Limit: limit, ViewerID: w.Ann.ID, CompareWithTime: before})
			modelstest.Check(t, err)
			for _, e := range append(slices.Clone(shown.Standings), *own) {
				out = append(out, text(e))
			}
			return out
		}
		ann := "4 Ann in 2, before 3500"
		for _, read := range []string{"read", "recalled"} {
			if diff := cmp.Diff([]string{"3 Person 2 in 1", ann, "5 Person 3 in 1", ann}, show(2, 3)); diff != "" {
				t.Errorf("around Ann, %s:\n%s", read, diff)
			}
			if diff := cmp.Diff([]string{"6 Person 4 in 1", "7 Person 5 in 1", ann}, show(5, 2)); diff != "" {
				t.Errorf("behind Ann, %s:\n%s", read, diff)
			}
		}
		offset, id, err := s.Boards.FindEntryByName(ctx, w.Task.VersionID, "CPU", "SON 4")
		if err != nil || offset != 5 || id == 0 {
			t.Errorf("Person 4 stands at %d, %v", offset, err)
		}
		if offset := modelstest.Got[int](t)(s.Boards.FindPerson(ctx, w.Task.VersionID, "CPU", w.Ann.ID)); offset != 3 {
			t.Errorf("Ann stands at %d", offset)
		}
		_, _, err = s.Boards.FindEntryByName(ctx, w.Task.VersionID, "CPU", "%")
		modelstest.WantKind(t, err, db.NotFound)
	})
}

// ended returns the time at which a run ended.
func ended(t *testing.T, s *models.Store, run work.Run) time.Time {
	t.Helper()
	return *modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), run.ID)).EndedAt
}
