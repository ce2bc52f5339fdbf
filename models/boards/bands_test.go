package boards_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// scoreWithin ends a run of a person with a score and its interval.
func scoreWithin(t *testing.T, s *models.Store, w modelstest.World, user accounts.User, ns, low,
	high float64) work.Run {
	t.Helper()
	return w.Measured(t, s, user, ns, boards.Interval{LowNS: &low, HighNS: &high, Processes: 5})
}

// places reads a whole board as "rank person score", a page of size entries at a time.
func places(t *testing.T, s *models.Store, w modelstest.World, size int) (out []string) {
	t.Helper()
	for offset := 0; ; offset += size {
		page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
			boards.BoardPartQuery{Offset: offset, Limit: size}))
		for _, st := range page.Standings {
			tie := ""
			if st.Tied {
				tie = "="
			}
			out = append(out, fmt.Sprintf("%d%s %s %g", st.Rank, tie, st.UserName, st.ScoreNS))
		}
		if len(page.Standings) < size {
			return out
		}
	}
}

func TestIndistinguishableEntriesShareARank(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		cleo, dan := modelstest.Person(t, s, "Cleo", accounts.RoleUser),
			modelstest.Person(t, s, "Dan", accounts.RoleUser)
		scoreWithin(t, s, w, w.Ann, 1000, 980, 1020)
		scoreWithin(t, s, w, w.Ben, 1010, 1000, 1015)
		scoreWithin(t, s, w, cleo, 1040, 1021, 1060)
		w.Score(t, s, dan, 1043)
		want := []string{"1= Ann 1000", "1= Ben 1010", "3= Cleo 1040", "3= Dan 1043"}
		for size := range 4 {
			if diff := cmp.Diff(want, places(t, s, w, size+1)); diff != "" {
				t.Errorf("board in pages of %d:\n%s", size+1, diff)
			}
		}
		if st := modelstest.Got[boards.Standing](t)(s.Boards.PersonPlace(ctx, w.Task.VersionID, "CPU",
			dan.ID)); st.Rank != 3 || !st.Tied || st.ScoreNS-st.BestOfEpochNS != 43 {
			t.Errorf("Dan's place: %+v", st)
		}
		placings, _, err := s.Boards.PersonEntries(ctx, accounts.User{}, w.Ben.ID, 0, 10)
		if err != nil || len(placings) != 1 || placings[0].Rank != 1 || !placings[0].Tied {
			t.Errorf("Ben's page: %+v, %v", placings, err)
		}
		leaders := modelstest.TaskSummaries(t, s, accounts.User{})[0].Boards[0].Leaders
		if len(leaders) != 3 || leaders[1].Rank != 1 || !leaders[1].Tied || leaders[2].Rank != 3 ||
			leaders[2].ScoreNS != 1040 {
			t.Errorf("home: %+v", leaders)
		}
		scoreWithin(t, s, w, dan, 900, 899, 901)
		if diff := cmp.Diff([]string{"1 Dan 900", "2= Ann 1000", "2= Ben 1010", "4 Cleo 1040"},
			places(t, s, w, 10)); diff != "" {
			t.Errorf("after Dan's better run:\n%s", diff)
		}
	})
}

// TestBandsCutAroundAChangeEqualRebuiltOnes changes a crowded board at random places, and after each few changes
// compares it with one whose bands are made again.
func TestBandsCutAroundAChangeEqualRebuiltOnes(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, r := modelstest.NewWorld(t, s), rand.New(rand.NewPCG(3, 4))
		var people []accounts.User
		for i := range 12 {
			people = append(people, modelstest.Person(t, s, fmt.Sprint("p", i), accounts.RoleUser))
		}
		var runs, out []int64
		for step := range 60 {
			switch act := r.IntN(10); {
			case act < 7 || len(runs) == 0:
				ns := 1000 * (1 + 0.04*r.Float64())
				half := ns * 0.008 * r.Float64()
				runs = append(runs, scoreWithin(t, s, w, people[r.IntN(len(people))], ns, ns-half, ns+half).ID)
			case act < 9:
				i := r.IntN(len(runs))
				modelstest.Check(t, modelstest.Second(s.Disqualify(t.Context(), w.Admin, runs[i], "test")))
				out = append(out, runs[i])
				runs = slices.Delete(runs, i, i+1)
			case len(out) > 0:
				modelstest.Check(t, modelstest.Second(s.Reinstate(t.Context(), w.Admin, out[0], "test")))
				runs, out = append(runs, out[0]), out[1:]
			}
			if step%4 > 0 {
				continue
			}
			kept := places(t, s, w, 5)
			modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
			if diff := cmp.Diff(places(t, s, w, 50), kept); diff != "" {
				t.Fatalf("step %d (-made again +kept):\n%s", step, diff)
			}
		}
	})
}
