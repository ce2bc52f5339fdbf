package modelstest

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/work"
)

// ScoreIn creates a run that ends with a score, measured with the given driver version.
func (w World) ScoreIn(t testing.TB, s *models.Store, user accounts.User, ns float64, driver string) work.Run {
	t.Helper()
	run := w.Submit(t, s, user)
	attempt := Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
	result := Result(attempt, ns)
	result.Machine.Driver = driver
	Check(t, Second(s.Work.RecordResult(t.Context(), result, work.ResultFindings{Score: &work.Score{NS: ns}})))
	return Got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
}

// Measured creates a person's run that ends with a score from several processes.
func (w World) Measured(t testing.TB, s *models.Store, who accounts.User, ns float64, i boards.Interval) work.Run {
	t.Helper()
	run := w.Submit(t, s, who)
	attempt := Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
	Check(t, Second(s.Work.RecordResult(t.Context(), Result(attempt, ns), work.ResultFindings{Score: &work.Score{
		NS:       ns,
		Interval: i,
	}})))
	return Got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
}

// Standings returns a part of the board, one line "rank name score" per entry.
func (w World) Standings(t testing.TB, s *models.Store, offset, limit int) (out []string) {
	t.Helper()
	page := Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.BoardPartQuery{
		Offset: offset,
		Limit:  limit,
	}))
	for _, st := range page.Standings {
		out = append(out, fmt.Sprintf("%d %s %g", st.Rank, st.UserName, st.ScoreNS))
	}
	return out
}

// ByEpoch returns the board, one line "rank person score" per entry, with entries of older epochs in brackets.
func (w World) ByEpoch(t testing.TB, s *models.Store) (out []string) {
	t.Helper()
	page := Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
		boards.BoardPartQuery{Limit: 100}))
	for _, st := range page.Standings {
		format := "%d %s %.0f"
		if st.HasOlderEpoch(page.Board) {
			format = "(%d %s %.0f)"
		}
		out = append(out, fmt.Sprintf(format, st.Rank, st.UserName, st.ScoreNS))
	}
	return out
}

// SameAfterRebuild fails the test if a rebuild from the samples changes the score of a run, an entry, a record, or a
// best run.
func (w World) SameAfterRebuild(t testing.TB, s *models.Store) {
	t.Helper()
	board := func() boards.BoardPart {
		return Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
			boards.BoardPartQuery{Limit: 100}))
	}
	history := func() []boards.RecordWithHolder {
		return Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(t.Context(), w.Task.VersionID, "CPU"))
	}
	runs := func() map[int64]work.Run {
		ids := make([]int64, 0, 100)
		for id := range int64(cap(ids)) {
			ids = append(ids, id)
		}
		return Got[map[int64]work.Run](t)(s.Work.RunsByID(t.Context(), ids...))
	}
	steps := func() []string {
		return Rows(t, s, "select run_id, user_id, age, score_ns, tries, achieved_at from bests order by 2, 3, 1")
	}
	keptBoard, keptHistory, keptRuns, keptSteps := board(), history(), runs(), steps()
	_, err := s.SQL().ExecContext(t.Context(), "update runs set score_ns = 1e9, std_ns = 1, interval_low = null, interval_high = null, processes = 3, disturbed = 'x', "+
		"epoch_id = 0, pooled = 9, scored_at = queued_at where "+boards.ValidRunSQL)
	Check(t, err)
	_, err = s.SQL().ExecContext(t.Context(), "update runs set held_why = 'x' where mode = 'ranked' and state = 'done' and score_ns is not null and purpose = 'submitted'")
	Check(t, err)
	Check(t, s.RebuildScores(t.Context()))
	if diff := cmp.Diff(keptBoard, board(), cmpopts.IgnoreFields(boards.Board{}, "ChangeNumber", "ChangedAt")); diff != "" {
		t.Errorf("board (-kept +rebuilt):\n%s", diff)
	}
	if diff := cmp.Diff(keptRuns, runs()); diff != "" {
		t.Errorf("runs (-kept +rebuilt):\n%s", diff)
	}
	if diff := cmp.Diff(keptHistory, history()); diff != "" {
		t.Errorf("history (-kept +rebuilt):\n%s", diff)
	}
	if diff := cmp.Diff(keptSteps, steps()); diff != "" {
		t.Errorf("people's bests (-kept +rebuilt):\n%s", diff)
	}
}

// Rows returns the rows of a query as text.
func Rows(t testing.TB, s *models.Store, query string) (list []string) {
	t.Helper()
	rows := Got[*sql.Rows](t)(s.SQL().QueryContext(t.Context(), query))
	defer rows.Close()
	values := make([]any, len(Got[[]string](t)(rows.Columns())))
	for i := range values {
		values[i] = new(any)
	}
	for rows.Next() {
		Check(t, rows.Scan(values...))
		line := make([]any, len(values))
		for i, v := range values {
			line[i] = *v.(*any)
		}
		list = append(list, fmt.Sprintln(line...))
	}
	Check(t, rows.Err())
	return list
}
