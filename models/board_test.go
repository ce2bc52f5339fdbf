package models_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// standings reads a board as "rank name score".
func standings(t *testing.T, s *models.Store, w world, offset, limit int) (out []string) {
	t.Helper()
	page := got[boards.Page](t)(s.Boards.Board(t.Context(), w.task.VersionID, "CPU", boards.Part{Offset: offset, Limit: limit}))
	for _, st := range page.Standings {
		out = append(out, fmt.Sprintf("%d %s %g", st.Rank, st.UserName, st.ScoreNS))
	}
	return out
}

func TestABoardHoldsEachPersonsBestRunAndTiesShareARank(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		cleo := modelstest.Person(t, s, "Cleo", accounts.RoleUser)
		dan := modelstest.Person(t, s, "Dan", accounts.RoleUser)
		w.score(t, s, w.ann, 300)
		w.score(t, s, w.ann, 100)
		w.score(t, s, w.ann, 200)
		w.score(t, s, w.ben, 150)
		w.score(t, s, cleo, 150)
		w.score(t, s, dan, 151)
		want := []string{"1 Ann 100", "2 Ben 150", "2 Cleo 150", "4 Dan 151"}
		if diff := cmp.Diff(want, standings(t, s, w, 0, 10)); diff != "" {
			t.Errorf("board:\n%s", diff)
		}
		if diff := cmp.Diff(want[2:], standings(t, s, w, 2, 10)); diff != "" {
			t.Errorf("from the third on:\n%s", diff)
		}
		place := got[boards.Standing](t)(s.Boards.Place(ctx, w.task.VersionID, "CPU", cleo.ID))
		if place.Rank != 2 || place.FirstNS != 100 || place.StdNS != 3 || place.ErrNS != 0.3 {
			t.Errorf("place: %+v", place)
		}
		wantKind(t, second(s.Boards.Place(ctx, w.task.VersionID, "CPU", w.admin.ID)), db.NotFound)
		page := got[boards.Page](t)(s.Boards.Board(ctx, w.task.VersionID, "CPU", boards.Part{Limit: 1}))
		if page.Size != 4 || page.Leaders[0].ScoreNS != 100 || page.Change != 5 { // the slower third run changed nothing
			t.Errorf("page: %+v", page.Board)
		}
		var history []float64
		for _, r := range got[[]boards.RecordHolder](t)(s.Boards.History(ctx, w.task.VersionID, "CPU")) {
			history = append(history, r.ScoreNS)
		}
		if diff := cmp.Diff([]float64{300, 100}, history); diff != "" {
			t.Errorf("history:\n%s", diff)
		}
		home := got[[]models.TaskSummary](t)(s.TaskSummaries(ctx, accounts.User{}))
		board := home[0].Boards[0]
		if board.Size != 4 || len(board.Leaders) != 3 || board.Leaders[2].UserName != "Cleo" || board.Leaders[2].Rank != 2 || board.Leaders[1].ScoreNS != 150 {
			t.Errorf("home: %+v", board)
		}
	})
}

func TestAnEntryFallsBackWhenItsRunIsDisqualifiedOrDeleted(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		bens := w.score(t, s, w.ben, 250)
		slow, fast, fastest := w.score(t, s, w.ann, 300), w.score(t, s, w.ann, 200), w.score(t, s, w.ann, 100)
		steps := []struct {
			name string
			do   func() ([]boards.Change, error)
			want []string
			best float64
		}{
			{"disqualified", func() ([]boards.Change, error) {
				return s.Disqualify(ctx, w.admin, fastest.ID, "It knew the answers.")
			},
				[]string{"1 Ann 200", "2 Ben 250"}, 200},
			{"deleted", func() ([]boards.Change, error) {
				return s.DeleteSubmission(ctx, w.ann, fast.SubmissionID, "Asked for.")
			},
				[]string{"1 Ben 250", "2 Ann 300"}, 250},
			{"reinstated", func() ([]boards.Change, error) { return s.Reinstate(ctx, w.admin, fastest.ID, "It did not.") },
				[]string{"1 Ann 100", "2 Ben 250"}, 100},
			{"deleted again", func() ([]boards.Change, error) {
				return s.DeleteSubmission(ctx, w.admin, fastest.SubmissionID, "Asked for.")
			},
				[]string{"1 Ben 250", "2 Ann 300"}, 250},
			{"the last one gone", func() ([]boards.Change, error) {
				return s.DeleteSubmission(ctx, w.ann, slow.SubmissionID, "Asked for.")
			},
				[]string{"1 Ben 250"}, 250},
		}
		for _, step := range steps {
			before := got[int64](t)(s.Boards.BoardChangeNumber(ctx, w.task.VersionID, "CPU"))
			changes, err := step.do()
			if err != nil || len(changes) != 1 || changes[0].Change != before+1 {
				t.Errorf("%s: %+v, %v", step.name, changes, err)
			}
			if diff := cmp.Diff(step.want, standings(t, s, w, 0, 10)); diff != "" {
				t.Errorf("%s:\n%s", step.name, diff)
			}
			history := got[[]boards.RecordHolder](t)(s.Boards.History(ctx, w.task.VersionID, "CPU"))
			if last := history[len(history)-1]; last.ScoreNS != step.best {
				t.Errorf("%s: the history ends at %v, want %v", step.name, last.ScoreNS, step.best)
			}
			sameAfterRebuild(t, s, w)
		}
		wantKind(t, second(s.Disqualify(ctx, w.ann, bens.ID, "mine")), db.Forbidden)
		wantKind(t, second(s.DeleteSubmission(ctx, w.ben, slow.SubmissionID, "Asked for.")), db.NotFound)
		page := got[boards.Page](t)(s.Boards.Board(ctx, w.task.VersionID, "CPU", boards.Part{Limit: 10}))
		wantKind(t, second(s.DeleteSubmission(ctx, w.ann, page.Standings[0].SubmissionID, "Asked for.")), db.Forbidden)
	})
}

func TestTheHistoryForgetsADeletedRecord(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		first := w.score(t, s, w.ann, 300)
		w.score(t, s, w.ann, 100)
		changes, err := s.DeleteSubmission(ctx, w.ann, first.SubmissionID, "Asked for.")
		if err != nil || len(changes) != 1 || changes[0].Change != 3 {
			t.Errorf("DeleteSubmission: %+v, %v", changes, err)
		}
		history := got[[]boards.RecordHolder](t)(s.Boards.History(ctx, w.task.VersionID, "CPU"))
		if len(history) != 1 || history[0].ScoreNS != 100 || history[0].UserName != "Ann" {
			t.Errorf("history: %+v", history)
		}
	})
}

// sameAfterRebuild holds that what was kept step by step is what the whole table gives.
func sameAfterRebuild(t *testing.T, s *models.Store, w world) {
	t.Helper()
	board := func() boards.Page {
		return got[boards.Page](t)(s.Boards.Board(t.Context(), w.task.VersionID, "CPU", boards.Part{Limit: 100}))
	}
	history := func() []boards.RecordHolder {
		return got[[]boards.RecordHolder](t)(s.Boards.History(t.Context(), w.task.VersionID, "CPU"))
	}
	keptBoard, keptHistory := board(), history()
	check(t, s.Boards.RebuildEntries(t.Context()))
	if diff := cmp.Diff(keptBoard, board(), cmpopts.IgnoreFields(boards.Board{}, "Change", "ChangedAt")); diff != "" {
		t.Errorf("board (-kept +rebuilt):\n%s", diff)
	}
	if diff := cmp.Diff(keptHistory, history()); diff != "" {
		t.Errorf("history (-kept +rebuilt):\n%s", diff)
	}
}

// TestTheRuleInSQLIsTheRuleInGo: which runs count is said once for the database and once for a run in hand.
func TestTheRuleInSQLIsTheRuleInGo(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		for name, c := range map[string]struct {
			set  string
			want bool
		}{
			"done":         {"mode = 'ranked'", true},
			"failed":       {"state = 'failed'", false},
			"cancelled":    {"state = 'cancelled'", false},
			"benchmark":    {"mode = 'benchmark'", false},
			"profile":      {"mode = 'profile'", false},
			"no score":     {"score_ns = null", false},
			"disqualified": {"disqualified_at = ended_at", false},
		} {
			run := w.score(t, s, modelstest.Person(t, s, name, accounts.RoleUser), 100)
			if _, err := s.SQL().ExecContext(t.Context(), "update runs set "+c.set+" where id = $1", run.ID); err != nil {
				t.Fatal(err)
			}
			run = got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
			check(t, s.Boards.RebuildEntries(t.Context()))
			_, err := s.Boards.Place(t.Context(), w.task.VersionID, "CPU", run.UserID)
			if onBoard := db.KindOf(err) != db.NotFound; run.Valid() != c.want || onBoard != c.want {
				t.Errorf("%s: valid %v, on the board %v, want %v", name, run.Valid(), onBoard, c.want)
			}
		}
	})
}

func TestAFilledStoreHasTheBoardsThatItsRunsGive(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		filled, err := modelstest.Fill(t.Context(), s, 3000)
		check(t, err)
		page := got[boards.Page](t)(s.Boards.Board(t.Context(), filled.Task.VersionID, filled.Device, boards.Part{Limit: 50}))
		if len(page.Standings) != 50 || page.Size < 200 || page.Standings[0].Rank != 1 || page.Standings[49].ScoreNS < page.Leaders[0].ScoreNS {
			t.Errorf("hot board: %+v", page.Board)
		}
		modelstest.Submit(t, s, filled.Owner, filled.Task) // ids go on after those that Fill gave
	})
}
