package boards_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
)

// TestABoardRanksTheScoresOfOneEpoch checks that the first score of a newer epoch leads the board. Older scores follow
// without being compared to it, until their people have a score of the newer epoch, even a slower one.
func TestABoardRanksTheScoresOfOneEpoch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		cid := modelstest.Person(t, s, "Cid", accounts.RoleUser)
		old := w.ScoreIn(t, s, w.Ann, 100, "")
		w.ScoreIn(t, s, w.Ann, 100, "570")
		w.ScoreIn(t, s, w.Ben, 110, "570")
		w.ScoreIn(t, s, cid, 120, "570")
		if diff := cmp.Diff([]string{"1 Ann 100", "2 Ben 110", "3 Cid 120"}, w.ByEpoch(t, s)); diff != "" {
			t.Errorf("with one epoch:\n%s", diff)
		}
		fresh := w.ScoreIn(t, s, cid, 130, "580")
		if diff := cmp.Diff([]string{"1 Cid 130", "(2 Ann 100)", "(3 Ben 110)"}, w.ByEpoch(t, s)); diff != "" {
			t.Errorf("after a newer one:\n%s", diff)
		}
		w.ScoreIn(t, s, w.Ben, 90, "570") // measured on a machine without the newest software
		w.ScoreIn(t, s, w.Ann, 125, "580")
		want := []string{"1 Ann 125", "2 Cid 130", "(3 Ben 90)"}
		if diff := cmp.Diff(want, w.ByEpoch(t, s)); diff != "" {
			t.Errorf("with both:\n%s", diff)
		}
		if old.EpochID != 0 || fresh.EpochID <= 0 {
			t.Errorf("the runs carry epochs %d and %d", old.EpochID, fresh.EpochID)
		}
		page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
			boards.BoardPartQuery{Limit: 1}))
		if len(page.Leaders) != 2 {
			t.Errorf("%d lead, want those of the newest epoch alone", len(page.Leaders))
		}
		if page.Software.String() != "driver 580" || page.EpochID != fresh.EpochID {
			t.Errorf("the board says %q, epoch %d", page.Software, page.EpochID)
		}
		records := modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(t.Context(), w.Task.VersionID,
			"CPU"))
		var history []string
		for _, r := range records {
			history = append(history, fmt.Sprint(r.ScoreNS, r.HasOlderSoftware))
		}
		if diff := cmp.Diff([]string{"100 true", "100 true", "130 false", "90 true", "125 false"},
			history); diff != "" {
			t.Errorf("the history, and whether each record is of older software (-want +got):\n%s", diff)
		}
		var feed []string
		for _, r := range modelstest.Got[[]boards.TaskRecord](t)(s.Boards.Records(t.Context(),
			boards.RecordFilter{Limit: 10})) {
			feed = append(feed, fmt.Sprint(r.ScoreNS, r.HasOlderSoftware))
		}
		if diff := cmp.Diff([]string{"125 false", "90 true", "130 false", "100 true", "100 true"}, feed); diff != "" {
			t.Errorf("the feed of records, and whether each is of older software (-want +got):\n%s", diff)
		}
		modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
		if diff := cmp.Diff(want, w.ByEpoch(t, s)); diff != "" {
			t.Errorf("made again:\n%s", diff)
		}
		next := w.ScoreIn(t, s, cid, 124, "580")
		// 125 is ahead of 130; 90 is older
		if message := outcome(t, s, next); message != "1 of 3, entry, record, best 2 with 130, next Ann 2 with 125" {
			t.Errorf("Cid's best run comes as %q", message)
		}
	})
}

// TestBoardsOfManyEpochsEqualRebuiltOnes checks that updating bands around each change gives the same bands as a
// rebuild, also with entries of several epochs.
func TestBoardsOfManyEpochsEqualRebuiltOnes(t *testing.T) {
	s := modelstest.Open(t)
	w, random := modelstest.NewWorld(t, s), rand.New(rand.NewPCG(1, 2))
	var people []accounts.User
	for i := range 8 {
		people = append(people, modelstest.Person(t, s, fmt.Sprintf("p%d", i), accounts.RoleUser))
	}
	for range 60 {
		w.ScoreIn(t, s, people[random.IntN(8)], 1000+5*float64(random.IntN(8)), fmt.Sprint(random.IntN(3)+1))
	}
	kept := places(t, s, w, 3)
	modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
	if diff := cmp.Diff(places(t, s, w, 100), kept); diff != "" || len(kept) == 0 {
		t.Errorf("-again +kept:\n%s", diff)
	}
}
