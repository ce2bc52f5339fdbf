package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"warpboard/evaluator/job"
	"warpboard/internal/cache"
	"warpboard/models/db"
)

// mostSaid limits the decoded texts in bytes, for each kind.
const mostSaid = 16 << 20

// said caches the decoded reports of workers by their text, because many pages read them and they seldom change.
// Decoding the largest heartbeat takes 25 ms. All readers share the values, which must not be modified.
type said struct {
	slots    *cache.Cache[string, []job.Slot]
	attempts *cache.Cache[string, []string]
	tests    *cache.Cache[string, []job.CheckLine]
}

func newSaid() said {
	return said{cache.New[string, []job.Slot](mostSaid), cache.New[string, []string](mostSaid), cache.New[string, []job.CheckLine](mostSaid)}
}

// saidRow is a worker's row.
type saidRow struct {
	Worker `gorm:"embedded"`

	SlotsText, AttemptsText, SelfTestText string
}

const saidRows = `select name, version, started_at, seen_at, refusing, stopping, guest, behind_ms,
	coalesce(slots, '') as slots_text, coalesce(attempts, '') as attempts_text, coalesce(self_test, '') as self_test_text
	from workers order by name`

// Workers lists all known workers by name.
func (s *Fleet) Workers(ctx context.Context) ([]Worker, error) {
	var rows []saidRow
	if err := s.db.Read(ctx).Raw(saidRows).Scan(&rows).Error; err != nil {
		return nil, db.ReadError(err, "workers")
	}
	list := make([]Worker, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = s.said.worker(row); err != nil {
			return nil, fmt.Errorf("reading what worker %s said: %w", row.Name, err)
		}
	}
	s.last.Store(&reading{list, db.Now()})
	return list, nil
}

func (k said) worker(row saidRow) (w Worker, err error) {
	w = row.Worker
	if w.Slots, err = decoded(k.slots, row.SlotsText); err != nil {
		return w, err
	}
	if w.Attempts, err = decoded(k.attempts, row.AttemptsText); err != nil {
		return w, err
	}
	w.SelfTest, err = decoded(k.tests, row.SelfTestText)
	return w, err
}

func decoded[T any](kept *cache.Cache[string, []T], text string) (list []T, err error) {
	if text == "" {
		return nil, nil
	}
	if list, ok := kept.Get(text); ok {
		return list, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	kept.Put(text, list, int64(len(text)))
	return list, nil
}
