package models_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
							boards.BoardPartQuery{Offset: offset, Limit: 50})
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
					return errors.Join(err, s.AddBoardSummaries(b.Context(), accounts.User{}, list))
				})
			})
			b.Run("history", func(b *testing.B) {
				percentiles(b, func() error {
					return modelstest.Second(s.Boards.RecordHistory(b.Context(), filled.Task.VersionID, filled.Device))
				})
			})
		})
	}
}

// BenchmarkRebuildScores makes the scores of a million runs, or WARPBOARD_BENCH_ROWS, from their samples again, and
// counts the rows of runs and boards that differ from those before. Some runs have ended in the usual way before that:
// repeated sources, new bests, and deleted submissions.
func BenchmarkRebuildScores(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("WARPBOARD_BENCH_ROWS")); err == nil {
		rows = n
	}
	for name, open := range map[string]func(testing.TB) *models.Store{"sqlite": modelstest.Open,
		"postgres": modelstest.OpenPostgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b)
			filled := modelstest.Got[modelstest.FilledBoard](b)(modelstest.Fill(b.Context(), s, rows))
			modelstest.Check(b, s.RebuildScores(b.Context()))
			endRuns(b, s, filled)
			for table, columns := range scoreTables {
				_, err := s.SQL().ExecContext(b.Context(), "create table kept_"+table+" as select "+columns+" from "+table)
				modelstest.Check(b, err)
			}
			_, err := s.SQL().ExecContext(b.Context(), "update runs set score_ns = 1e9, std_ns = 1, processes = 3, "+
				"disturbed = 'x', epoch_id = 0, pooled = 9, scored_at = queued_at where "+boards.ValidRunSQL)
			modelstest.Check(b, err)
			began := rusage(b)
			for b.Loop() {
				modelstest.Check(b, s.RebuildScores(b.Context()))
			}
			ended := rusage(b)
			used := ended.Utime.Nano() + ended.Stime.Nano() - began.Utime.Nano() - began.Stime.Nano()
			b.ReportMetric(time.Duration(used).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(ended.Maxrss)/1024, "max-MB")
			for table, columns := range scoreTables {
				before, after := "select "+columns+" from kept_"+table, "select "+columns+" from "+table
				for _, query := range []string{before + " except " + after, after + " except " + before} {
					var n int
					modelstest.Check(b, s.SQL().QueryRowContext(b.Context(), "select count(*) from ("+query+") x").Scan(&n))
					if n > 0 {
						b.Errorf("%d rows differ: %s", n, query)
					}
				}
			}
		})
	}
}

// scoreTables has the tables that RebuildScores writes, with the columns that follow from samples.
var scoreTables = map[string]string{
	"runs": "id, score_ns, std_ns, err_ns, clock, interval_low, interval_high, processes, noisy, roof, disturbed, pooled, " +
		"was_ns, epoch_id, pool_id, scored_at, held_why",
	"entries": "version_id, device, user_id, run_id, submission_id, age, score_ns, std_ns, err_ns, clock, interval_low, " +
		"interval_high, processes, noisy, roof, pooled, disturbed, achieved_at",
	"records": "version_id, device, run_id, user_id, submission_id, score_ns, achieved_at, age",
	"bests":   "version_id, device, user_id, run_id, submission_id, age, score_ns, tries, achieved_at",
	"bands":   "version_id, device, run_id, score_ns, ahead, size, age",
	"boards":  "version_id, device, size, leaders, confirming, epoch_id, steps",
}

// endRuns submits 1,000 sources of 40 people, a third of them repeated, and ends their runs. It deletes some.
func endRuns(b *testing.B, s *models.Store, filled modelstest.FilledBoard) {
	b.Helper()
	chance, w := rand.New(rand.NewPCG(7, 8)), world{modelstest.World{Task: onDevice(filled)}}
	for range 1000 {
		user := modelstest.Got[accounts.User](b)(s.Accounts.User(b.Context(), 2+chance.Int64N(40)))
		source := fmt.Sprintf("void solve%d();\n", chance.IntN(25))
		ns := 1e6 * math.Exp(0.6*chance.NormFloat64())
		run := w.measures(b, s, user, source, about(ns)...)
		if chance.IntN(20) == 0 {
			modelstest.Check(b, modelstest.Second(s.DeleteSubmission(b.Context(), user, run.SubmissionID, "")))
		}
	}
}

// rusage returns the CPU time and memory that this process has used, without those of the PostgreSQL server.
func rusage(b *testing.B) (used syscall.Rusage) {
	b.Helper()
	modelstest.Check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used
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
