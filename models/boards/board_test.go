package boards_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestABoardHoldsEachPersonsBestRunAndTiesShareARank(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		cleo := modelstest.Person(t, s, "Cleo", accounts.RoleUser)
		dan := modelstest.Person(t, s, "Dan", accounts.RoleUser)
		w.Score(t, s, w.Ann, 300)
		w.Score(t, s, w.Ann, 100)
		w.Score(t, s, w.Ann, 200)
		w.Score(t, s, w.Ben, 150)
		w.Score(t, s, cleo, 150)
		w.Score(t, s, dan, 151)
		want := []string{"1 Ann 100", "2 Ben 150", "2 Cleo 150", "4 Dan 151"}
		if diff := cmp.Diff(want, w.Standings(t, s, 0, 10)); diff != "" {
			t.Errorf("board:\n%s", diff)
		}
		if diff := cmp.Diff(want[2:], w.Standings(t, s, 2, 10)); diff != "" {
			t.Errorf("from the third on:\n%s", diff)
		}
		place := modelstest.Got[boards.Standing](t)(s.Boards.PersonPlace(ctx, w.Task.VersionID, "CPU", cleo.ID))
		if place.Rank != 2 || place.BestOfEpochNS != 100 || place.DeviationNS != 3 || place.StandardErrorNS != 0.3 {
			t.Errorf("place: %+v", place)
		}
		modelstest.WantKind(t, modelstest.Second(s.Boards.PersonPlace(ctx, w.Task.VersionID, "CPU", w.Admin.ID)),
			db.NotFound)
		page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 1}))
		// the slower third run changed nothing
		if page.PeopleCount != 4 || page.Leaders[0].ScoreNS != 100 || page.ChangeNumber != 5 {
			t.Errorf("page: %+v", page.Board)
		}
		var history []float64
		for _, r := range modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(ctx, w.Task.VersionID,
			"CPU")) {
			history = append(history, r.ScoreNS)
		}
		if diff := cmp.Diff([]float64{300, 100}, history); diff != "" {
			t.Errorf("history:\n%s", diff)
		}
		home := modelstest.TaskSummaries(t, s, accounts.User{})
		board := home[0].Boards[0]
		if board.PeopleCount != 4 || len(board.Leaders) != 3 || board.Leaders[2].UserName != "Cleo" ||
			board.Leaders[2].Rank != 2 || board.Leaders[1].ScoreNS != 150 {
			t.Errorf("home: %+v", board)
		}
	})
}

func TestAnEntryFallsBackWhenItsRunIsDisqualifiedOrDeleted(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		bens := w.Score(t, s, w.Ben, 250)
		slow, fast, fastest := w.Score(t, s, w.Ann, 300), w.Score(t, s, w.Ann, 200), w.Score(t, s, w.Ann, 100)
		steps := []struct {
			name string
			do   func() ([]boards.ChangedBoard, error)
			want []string
			best float64
		}{
			{"disqualified", func() ([]boards.ChangedBoard, error) {
				return s.Disqualify(ctx, w.Admin, fastest.ID, "It knew the answers.")
			},
				[]string{"1 Ann 200", "2 Ben 250"}, 200},
			{"deleted", func() ([]boards.ChangedBoard, error) {
				return s.DeleteSubmission(ctx, w.Ann, fast.SubmissionID, "Asked for.")
			},
				[]string{"1 Ben 250", "2 Ann 300"}, 250},
			{"reinstated", func() ([]boards.ChangedBoard,
				error) {
				return s.Reinstate(ctx, w.Admin, fastest.ID, "It did not.")
			},
				[]string{"1 Ann 100", "2 Ben 250"}, 100},
			{"deleted again", func() ([]boards.ChangedBoard, error) {
				return s.DeleteSubmission(ctx, w.Admin, fastest.SubmissionID, "Asked for.")
			},
				[]string{"1 Ben 250", "2 Ann 300"}, 250},
			{"the last one gone", func() ([]boards.ChangedBoard, error) {
				return s.DeleteSubmission(ctx, w.Ann, slow.SubmissionID, "Asked for.")
			},
				[]string{"1 Ben 250"}, 250},
		}
		for _, step := range steps {
			before := modelstest.Got[int64](t)(s.Boards.ChangeNumber(ctx, w.Task.VersionID, "CPU"))
			changes, err := step.do()
			if err != nil || len(changes) != 1 || changes[0].ChangeNumber != before+1 {
				t.Errorf("%s: %+v, %v", step.name, changes, err)
			}
			if diff := cmp.Diff(step.want, w.Standings(t, s, 0, 10)); diff != "" {
				t.Errorf("%s:\n%s", step.name, diff)
			}
			history := modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(ctx, w.Task.VersionID,
				"CPU"))
			if last := history[len(history)-1]; last.ScoreNS != step.best {
				t.Errorf("%s: the history ends at %v, want %v", step.name, last.ScoreNS, step.best)
			}
			w.SameAfterRebuild(t, s)
		}
		modelstest.WantKind(t, modelstest.Second(s.Disqualify(ctx, w.Ann, bens.ID, "mine")), db.Forbidden)
		modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ben, slow.SubmissionID, "Asked for.")),
			db.NotFound)
		page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}))
		modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, page.Standings[0].SubmissionID,
			"Asked for.")), db.Forbidden)
	})
}

func TestTheHistoryForgetsADeletedRecord(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		first := w.Score(t, s, w.Ann, 300)
		w.Score(t, s, w.Ann, 100)
		changes, err := s.DeleteSubmission(ctx, w.Ann, first.SubmissionID, "Asked for.")
		if err != nil || len(changes) != 1 || changes[0].ChangeNumber != 3 {
			t.Errorf("DeleteSubmission: %+v, %v", changes, err)
		}
		history := modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(ctx, w.Task.VersionID, "CPU"))
		if len(history) != 1 || history[0].ScoreNS != 100 || history[0].UserName != "Ann" {
			t.Errorf("history: %+v", history)
		}
	})
}

// TestTheRuleInSQLIsTheRuleInGo checks that ValidRunSQL and work.Run.Valid accept the same runs.
func TestTheRuleInSQLIsTheRuleInGo(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
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
			run := w.Score(t, s, modelstest.Person(t, s, name, accounts.RoleUser), 100)
			if _, err := s.SQL().ExecContext(t.Context(), "update runs set "+c.set+" where id = $1",
				run.ID); err != nil {
				t.Fatal(err)
			}
			run = modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
			modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
			_, err := s.Boards.PersonPlace(t.Context(), w.Task.VersionID, "CPU", run.UserID)
			if onBoard := db.KindOf(err) != db.NotFound; run.Valid() != c.want || onBoard != c.want {
				t.Errorf("%s: valid %v, on the board %v, want %v", name, run.Valid(), onBoard, c.want)
			}
		}
	})
}

func TestAFilledStoreHasTheBoardsThatItsRunsGive(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		filled, err := modelstest.Fill(t.Context(), s, 3000)
		modelstest.Check(t, err)
		page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), filled.Task.VersionID, filled.Device,
			boards.BoardPartQuery{Limit: 50}))
		if len(page.Standings) != 50 || page.PeopleCount < 200 || page.Standings[0].Rank != 1 ||
			page.Standings[49].ScoreNS < page.Leaders[0].ScoreNS {
			t.Errorf("hot board: %+v", page.Board)
		}
		modelstest.Submit(t, s, filled.Owner, filled.Task) // new IDs must not collide with those that Fill inserted
	})
}
