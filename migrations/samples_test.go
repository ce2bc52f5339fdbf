package migrations_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
)

// TestMeasurementsBecomeSamples of a site in the middle of its work: run 3 is a leg that measures run 2 again, run 9 measured run 1
// again with new software, 4 was confirmed before legs were kept, and 5 and 6 have the numbers of a rejudge whose run is gone.
func TestMeasurementsBecomeSamples(t *testing.T) {
	eachAdopted(t, func(t *testing.T, dialect string, cfg models.Config, db *sql.DB) {
		const at = "'2026-11-24 21:00:00+00:00'"
		for _, s := range []string{
			"update submissions set source_key = '' where id = 1",
			"update runs set state = 'done', ended_at = " + at + ", score_ns = 1210, epoch_id = 1 where id = 3",
			"insert into measurements values (3, false, 1210, 1, 1, '', null, null, 5, false, null, '[[1210]]', '', null)",
			"update measurements set fixed = true where run_id = 4",
			"update measurements set by_run = 77 where run_id in (5, 6)",
			"update runs set epoch_id = 2 where id = 1",
			"update runs set state = 'done', profile_of = 1, rerun_id = 1, ended_at = " + at + ", score_ns = 1000, epoch_id = 2 where id = 9",
			"insert into measurements values (9, false, 1000, 1, 1, '', null, null, 5, false, null, '[[1000]]', '', null)",
			"insert into rejudges values (1, 'epoch', null, 'CPU', 2, 0, 'The software changed.', " + at + ", " + at + ", null, false)",
			"insert into reruns values (1, 1, 1, 1100, null, null, 1, 1000, null, null, 2, '', '', " + at + ")",
			"update confirmations set challenger_was = 1050, challenger_ns = 1000, ended_at = " + at,
			"insert into legs values (1, 1, 'CPU', 1, 'k', 88, 1300, 1, 1, null, null, 5, false, '', " + at + ", '[[1300]]')",
			"insert into retained values (1, 1, 'CPU', 3, 1, 'k', 90, 'cancelled', '[]', 1, " + at + ")",
			"insert into retained values (2, 1, 'CPU', 3, 1, 'k', 91, 'deleted', '[[5]]', 0, " + at + ")",
			"insert into retained values (3, 1, 'CPU', 3, 1, 'k', 92, 'unconfirmed', '[]', 0, " + at + ")",
			"insert into retained values (4, 1, 'CPU', 3, 2, 'k', 93, 'unconfirmed', '[]', 0, " + at + ")",
		} {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
		s, err := models.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var got []string
		rows, err := s.SQL().QueryContext(t.Context(), "select run_id, by_run, purpose, case when unfinished then 'unfinished' when aside_at is null then 'counts' else 'aside' end, score_ns, cases, source_key <> '' from samples order by by_run, purpose")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var (
				run, by               int64
				purpose, state, cases string
				ns                    float64
				key                   bool
			)
			if err := rows.Scan(&run, &by, &purpose, &state, &ns, &cases, &key); err != nil || !key {
				t.Fatal(err, key)
			}
			got = append(got, fmt.Sprintf("%d by %d %s %s %g %s", run, by, purpose, state, ns, cases))
		}
		want := []string{"1 by 1 submitted counts 1100 []", "2 by 2 submitted counts 1200 [[1200]]", "2 by 3 confirm aside 1210 [[1210]]",
			"4 by 4 confirm counts 1201 [[1201]]", "4 by 4 submitted aside 1201 [[1201]]", "5 by 5 submitted aside 950 [[950]]",
			"6 by 6 submitted aside 400 [[400]]", "1 by 9 remeasure counts 1000 [[1000]]", "5 by 77 remeasure counts 950 [[950]]", "88 by 88 confirm counts 1300 [[1300]]",
			"90 by 90 submitted unfinished 0 []", "91 by 91 submitted counts 0 [[5]]"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("samples (-want +got):\n%s", diff)
		}
		var purposes string
		if err := s.SQL().QueryRowContext(t.Context(), "select (select purpose from runs where id = 1) || (select purpose from runs where id = 3) || (select purpose from runs where id = 9)").Scan(&purposes); err != nil || purposes != "submittedconfirmremeasure" {
			t.Errorf("the purposes of runs 1, 3 and 9 are %q, %v", purposes, err)
		}
		var was float64
		if err := s.SQL().QueryRowContext(t.Context(), "select was_ns from runs where id = 1 and epoch_id = 2").Scan(&was); err != nil || was != 1050 {
			t.Errorf("before its confirmation the run had %v, %v", was, err)
		}
		var holds int
		if err := s.SQL().QueryRowContext(t.Context(), "select count(*) from holds").Scan(&holds); err != nil || holds != 1 {
			t.Errorf("%d sources are held back, %v", holds, err)
		}
	})
}
