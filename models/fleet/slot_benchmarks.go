package fleet

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"warpboard/evaluator/job"
	"warpboard/models/db"
)

// SlotBenchmark is one benchmark measurement of a slot.
type SlotBenchmark struct {
	Worker     string    `gorm:"primaryKey"`
	UUIDHash   string    `gorm:"primaryKey;column:unit"`
	MeasuredAt time.Time `gorm:"column:at;primaryKey"` // by the worker's clock
	Device     string
	ReadNS     float64 `gorm:"column:read_ns"`
	MathNS     float64 `gorm:"column:math_ns"`
}

// TableName returns the table of slot benchmarks, which has an older name.
func (SlotBenchmark) TableName() string { return "sentinels" }

// Limits of the history that DescribeBenchmarkDrift compares.
const (
	benchmarkRetention    = 30 * 24 * time.Hour
	maxClockLead          = 24 * time.Hour // largest accepted lead of a worker's clock over the site's
	maxComparedBenchmarks = 50             // number of earlier benchmarks with which the newest are compared
	minComparedBenchmarks = 5              // smallest number of earlier benchmarks for a comparison
	minAgreeingBenchmarks = 2              // number of consecutive benchmarks that must agree on a change
	// minDrift is the smallest relative difference that counts as drift. Clock rates of a device vary by as much.
	minDrift = 0.02
	// minDriftDeviations is the smallest difference that counts as drift, in standard deviations of the earlier times.
	// madToStdDeviation converts their median absolute deviation to a standard deviation.
	minDriftDeviations, madToStdDeviation = 4, 1.4826
)

// StoreBenchmark stores the benchmark of a worker's slot; a repeated one only once. It drops one with an old time, or
// with a time more than a day in the future.
func (s *Fleet) StoreBenchmark(ctx context.Context, worker string, slot job.Slot) error {
	g := slot.Machine.SlotBenchmark
	now := db.Now()
	if g == nil || !g.Valid() || g.MeasuredAt.Before(now.Add(-benchmarkRetention)) || g.MeasuredAt.After(now.Add(maxClockLead)) {
		return nil
	}
	row := SlotBenchmark{
		Worker: worker, UUIDHash: db.SanitizeText(slot.Machine.UUIDHash), MeasuredAt: db.NormalizeTime(g.MeasuredAt),
		Device: db.SanitizeText(slot.Device), ReadNS: g.ReadCaseNS, MathNS: g.MathCaseNS,
	}
	err := s.db.WriteStatement(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
	if err == nil {
		err = s.db.WriteStatement(ctx).Where("worker = ? and at < ?", row.Worker, db.NormalizeTime(now.Add(-benchmarkRetention))).Delete(&SlotBenchmark{}).Error
	}
	return db.WriteError(err, "slot benchmark")
}

// BenchmarksOf lists the benchmarks of a device's slots, newest first.
func (s *Fleet) BenchmarksOf(ctx context.Context, device string, limit int) ([]SlotBenchmark, error) {
	var list []SlotBenchmark
	err := s.db.Read(ctx).Where("device = ?", device).Order("at desc").Limit(limit).Find(&list).Error
	return list, db.ReadError(err, "slot benchmarks of %s", device)
}

// GroupBySlot groups benchmarks by slot, in the order of the newest benchmark of each.
func GroupBySlot(list []SlotBenchmark) (devices [][]SlotBenchmark) {
	at := map[[2]string]int{}
	for _, s := range list {
		key := [2]string{s.Worker, s.UUIDHash}
		i, known := at[key]
		if !known {
			i, at[key] = len(devices), len(devices)
			devices = append(devices, nil)
		}
		devices[i] = append(devices[i], s)
	}
	return devices
}

// DescribeDrift describes how a slot's recent times differ from its earlier ones. It returns "" if they do not, or if
// there is too little data.
func (s *Fleet) DescribeDrift(ctx context.Context, worker, device string) (string, error) {
	var list []SlotBenchmark
	err := s.db.Read(ctx).Where("worker = ? and unit = ?", worker, device).Order("at desc").Limit(maxComparedBenchmarks + minAgreeingBenchmarks).Find(&list).Error
	return DescribeBenchmarkDrift(list), db.ReadError(err, "slot benchmarks of worker %s", worker)
}

// DriftingSlots lists the slots whose recent times differ from earlier ones, sorted by worker.
func (s *Fleet) DriftingSlots(ctx context.Context) (list []DriftingSlot, err error) {
	var last []SlotBenchmark
	err = s.db.Read(ctx).Raw(`select * from (select s.*, row_number() over (partition by worker, unit order by at desc) as n from sentinels s) numbered
		where n <= ? order by worker, unit, at desc`, maxComparedBenchmarks+minAgreeingBenchmarks).Scan(&last).Error
	for _, device := range GroupBySlot(last) {
		if how := DescribeBenchmarkDrift(device); how != "" {
			list = append(list, DriftingSlot{
				Worker:      device[0].Worker,
				UUIDHash:    device[0].UUIDHash,
				Device:      device[0].Device,
				Description: how,
			})
		}
	}
	return list, db.ReadError(err, "the last slot benchmarks")
}

// DriftingSlot is a slot whose recent times differ from earlier ones.
type DriftingSlot struct{ Worker, UUIDHash, Device, Description string }

// DescribeBenchmarkDrift describes how the newest benchmarks in list, which is sorted newest first, differ from the
// earlier ones. It returns "" if they do not, or if there are too few.
func DescribeBenchmarkDrift(list []SlotBenchmark) string {
	for _, kernel := range []struct {
		name string
		of   func(SlotBenchmark) float64
	}{
		{"reads memory", func(s SlotBenchmark) float64 { return s.ReadNS }},
		{"multiplies and adds", func(s SlotBenchmark) float64 { return s.MathNS }},
	} {
		var times []float64
		for _, s := range list {
			times = append(times, kernel.of(s))
		}
		if by := relativeDrift(times); by != 0 {
			return fmt.Sprintf("The kernel that %s differs by %+.1f %% from its usual time on this slot, twice in a row.", kernel.name, 100*by)
		}
	}
	return ""
}

// relativeDrift returns the relative difference between the last times and the median of the earlier ones, if all
// differ in the same direction by more than the noise; otherwise 0.
func relativeDrift(times []float64) float64 {
	if len(times) < minAgreeingBenchmarks+minComparedBenchmarks {
		return 0
	}
	usual, deviation := medianAndDeviation(times[minAgreeingBenchmarks:])
	limit := math.Max(minDrift*usual, minDriftDeviations*madToStdDeviation*deviation)
	nearest := times[0] - usual
	for _, t := range times[:minAgreeingBenchmarks] {
		off := t - usual
		if math.Abs(off) <= limit || (off > 0) != (nearest > 0) {
			return 0
		}
		if math.Abs(off) < math.Abs(nearest) {
			nearest = off
		}
	}
	return nearest / usual
}

// RelativeDeviation returns the standard deviation of times relative to their median. It returns 0 if there are too few
// times.
func RelativeDeviation(times []float64) float64 {
	if len(times) < minComparedBenchmarks {
		return 0
	}
	median, deviation := medianAndDeviation(times)
	if median <= 0 {
		return 0
	}
	return madToStdDeviation * deviation / median
}

// medianAndDeviation returns the median, and the median absolute deviation from it.
func medianAndDeviation(times []float64) (median, deviation float64) {
	sorted := slices.Sorted(slices.Values(times))
	median = sorted[len(sorted)/2]
	for i, t := range sorted {
		sorted[i] = math.Abs(t - median)
	}
	slices.Sort(sorted)
	return median, sorted[len(sorted)/2]
}
