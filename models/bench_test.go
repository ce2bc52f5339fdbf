package models_test

import (
	"os"
	"slices"
	"strconv"
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
					return modelstest.Third(s.Boards.Placings(b.Context(), accounts.User{}, 5, 0, 25))
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
				percentiles(b, func() error { return modelstest.Second(s.TaskSummaries(b.Context(), accounts.User{})) })
			})
			b.Run("history", func(b *testing.B) {
				percentiles(b, func() error {
					return modelstest.Second(s.Boards.History(b.Context(), filled.Task.VersionID, filled.Device))
				})
			})
		})
	}
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
