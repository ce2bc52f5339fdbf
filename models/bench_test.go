package models_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
)

// BenchmarkBoard reads the pages of a hot board among a million submissions, or WARPBOARD_BENCH_ROWS. Besides the mean
// it reports percentiles in microseconds.
func BenchmarkBoard(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("WARPBOARD_BENCH_ROWS")); err == nil {
		rows = n
	}
	for name, open := range map[string]func(testing.TB) *models.Store{"sqlite": modelstest.Open,
		"postgres": modelstest.OpenPostgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b)
			filled, err := modelstest.Fill(b.Context(), s, rows)
			if err != nil {
				b.Fatal(err)
			}
			for _, offset := range []int{0, 5000} {
				b.Run("page-from-"+strconv.Itoa(offset), func(b *testing.B) {
					percentiles(b, func() error {
						_, err := s.Boards.Board(b.Context(), filled.Task.VersionID, filled.Device,
							boards.Part{Offset: offset, Limit: 50})
						return err
					})
				})
			}
			b.Run("place", func(b *testing.B) {
				percentiles(b, func() error {
					return modelstest.Third(s.Boards.PersonEntries(b.Context(), accounts.User{}, 5, 0, 25))
				})
			})
			// the run of a person who climbs through the crowded middle of the board
			b.Run("new-best", func(b *testing.B) {
				score := 1e6
				percentiles(b, func() error {
					score *= 0.999
					modelstest.Finish(b, s, modelstest.Submit(b, s, filled.Owner, onDevice(filled))[0], score)
					return nil
				})
			})
			b.Run("home", func(b *testing.B) {
				percentiles(b, func() error {
					list, err := s.TaskList(b.Context(), accounts.User{})
					return errors.Join(err, s.AddBoards(b.Context(), accounts.User{}, list))
				})
			})
			b.Run("history", func(b *testing.B) {
				percentiles(b, func() error {
					return modelstest.Second(s.Boards.History(b.Context(), filled.Task.VersionID, filled.Device))
				})
			})
		})
	}
}

// BenchmarkRebuildScores makes the scores of a million runs, or WARPBOARD_BENCH_ROWS, from their samples again, and
// compares runs and entries with those before.
func BenchmarkRebuildScores(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("WARPBOARD_BENCH_ROWS")); err == nil {
		rows = n
	}
	for name, open := range map[string]func(testing.TB) *models.Store{"sqlite": modelstest.Open,
		"postgres": modelstest.OpenPostgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b)
			modelstest.Got[modelstest.FilledBoard](b)(modelstest.Fill(b.Context(), s, rows))
			modelstest.Check(b, s.RebuildScores(b.Context()))
			want := scoresIn(b, s)
			_, err := s.SQL().ExecContext(b.Context(), "update runs set score_ns = 1e9, std_ns = 1, processes = 3, disturbed = 'x', epoch_id = 0, pooled = 9, "+
				"scored_at = queued_at where "+boards.ValidRun)
			modelstest.Check(b, err)
			began := computed(b)
			for b.Loop() {
				modelstest.Check(b, s.RebuildScores(b.Context()))
			}
			b.ReportMetric((computed(b)-began).Seconds()/float64(b.N), "cpu-s/op")
			if got := scoresIn(b, s); got != want {
				b.Errorf("after it the database has %s, want %s", got, want)
			}
		})
	}
}

// computed returns the processor time of this process, without that of PostgreSQL.
func computed(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	modelstest.Check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// scoresIn describes all scores of a database.
func scoresIn(b *testing.B, s *models.Store) string {
	b.Helper()
	hash, n := sha256.New(), 0
	for _, query := range []string{
		"select id, score_ns, std_ns, err_ns, interval_low, interval_high, processes, noisy, roof, disturbed, pooled, was_ns, epoch_id, pool_id, scored_at from runs order by id",
		"select version_id, device, user_id, run_id, age, score_ns, processes, pooled, achieved_at from entries order by version_id, device, user_id",
	} {
		rows, err := s.SQL().QueryContext(b.Context(), query)
		modelstest.Check(b, err)
		names, err := rows.Columns()
		modelstest.Check(b, err)
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(sql.NullString)
		}
		for rows.Next() {
			modelstest.Check(b, rows.Scan(values...))
			for _, v := range values {
				fmt.Fprintln(hash, v.(*sql.NullString).String)
			}
			n++
		}
		modelstest.Check(b, rows.Err())
	}
	return fmt.Sprintf("%d rows %x", n, hash.Sum(nil)[:6])
}

func percentiles(b *testing.B, fn func() error) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := fn(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds()), "p"+strconv.Itoa(p)+"-µs")
	}
}

// onDevice returns the task with only the hot board's device.
func onDevice(f modelstest.FilledBoard) catalog.Task {
	task := f.Task
	task.Devices = []string{f.Device}
	return task
}
