package fleet

import (
	"sync/atomic"
	"time"

	"warpboard/internal/cache"
	"warpboard/internal/requirement"
	"warpboard/models/db"
)

// Fleet reads and stores the workers of one database.
type Fleet struct {
	db      *db.DB
	reports reportCache
	needs   *cache.Cache[string, []requirement.Requirement]
	last    atomic.Pointer[reading]
}

// New returns the workers of a database.
func New(database *db.DB) *Fleet {
	return &Fleet{
		db:      database,
		reports: newReportCache(),
		needs:   cache.New[string, []requirement.Requirement](mostCached),
	}
}

// reading is a list of workers with the time of reading it.
type reading struct {
	workers []Worker
	at      time.Time
}

// Recent returns the workers as this process last read them, for pages that may not query. ok is false if that was too
// long ago to distinguish live workers from others. The dispatcher reads them all the time.
func (s *Fleet) Recent(now time.Time) (workers []Worker, ok bool) {
	last := s.last.Load()
	if last == nil || now.Sub(last.at) > WorkerTimeout/2 {
		return nil, false
	}
	return last.workers, true
}
