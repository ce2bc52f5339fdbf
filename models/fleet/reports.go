package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"warpboard/evaluator/job"
	"warpboard/internal/cache"
	"warpboard/internal/requirement"
	"warpboard/models/db"
)

// maxCachedBytes limits the cache of decoded reports, in bytes of text, for each kind of report.
const maxCachedBytes = 16 << 20

// reportCache caches the decoded reports of workers by their text: many pages read them, they seldom change, and
// decoding the largest heartbeat takes 25 ms. Callers share the values and must not modify them.
type reportCache struct {
	slots     *cache.Cache[string, []job.Slot]
	attempts  *cache.Cache[string, []string]
	selfTests *cache.Cache[string, []job.SelfTestResult]
	packages  *cache.Cache[string, requirement.Packages]
}

func newReportCache() reportCache {
	return reportCache{cache.New[string, []job.Slot](maxCachedBytes), cache.New[string, []string](maxCachedBytes), cache.New[string, []job.SelfTestResult](maxCachedBytes),
		cache.New[string, requirement.Packages](maxCachedBytes)}
}

// workerRow is the database row of a worker.
type workerRow struct {
	Worker `gorm:"embedded"`

	SlotsText, AttemptsText, SelfTestText, PackagesText string
}

const readWorkersSQL = `select name, version, started_at, seen_at, refusing, stopping, guest, behind_ms,
	coalesce(slots, '') as slots_text, coalesce(attempts, '') as attempts_text, coalesce(self_test, '') as self_test_text,
	coalesce(packages, '') as packages_text
	from workers order by name`

// Workers lists all workers by name.
func (s *Fleet) Workers(ctx context.Context) ([]Worker, error) {
	var rows []workerRow
	if err := s.db.Read(ctx).Raw(readWorkersSQL).Scan(&rows).Error; err != nil {
		return nil, db.ReadError(err, "workers")
	}
	list := make([]Worker, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = s.reportCache.worker(row); err != nil {
			return nil, fmt.Errorf("reading the report of worker %s: %w", row.Name, err)
		}
	}
	s.lastReading.Store(&workerReading{list, db.Now()})
	return list, nil
}

func (k reportCache) worker(row workerRow) (w Worker, err error) {
	w = row.Worker
	if w.Slots, err = decodeCached(k.slots, row.SlotsText); err != nil {
		return w, err
	}
	if w.AttemptIDs, err = decodeCached(k.attempts, row.AttemptsText); err != nil {
		return w, err
	}
	if w.SelfTestResults, err = decodeCached(k.selfTests, row.SelfTestText); err != nil {
		return w, err
	}
	w.Packages, err = decodeCached(k.packages, row.PackagesText)
	return w, err
}

func decodeCached[T any](kept *cache.Cache[string, T], text string) (value T, err error) {
	if text == "" {
		return value, nil
	}
	if value, ok := kept.Get(text); ok {
		return value, nil
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return value, err
	}
	kept.Put(text, value, int64(len(text)))
	return value, nil
}
