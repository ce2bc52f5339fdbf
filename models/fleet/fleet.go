package fleet

import (
	"sync/atomic"
	"time"

	"warpboard/internal/cache"
	"warpboard/internal/requirement"
	"warpboard/models/db"
)

// Fleet reads and stores workers in one database.
type Fleet struct {
	db      *db.DB
	reports reportCache
	needs   *cache.Cache[string, []requirement.Requirement]
	last    atomic.Pointer[reading]
}

// New returns the workers in a database.
func New(database *db.DB) *Fleet {
	return &Fleet{
		db:      database,
		reports: newReportCache(),
		needs:   cache.New[string, []requirement.Requirement](maxCachedBytes),
	}
}

// reading is a list of workers and the time at which it was read.
type reading struct {
	workers []Worker
	at      time.Time
}

// Recent returns the workers as this process read them last, for pages that must not query. ok is false if that was too
// long ago for distinguishing live workers. The dispatcher reads them regularly.
func (s *Fleet) Recent(now time.Time) (workers []Worker, ok bool) {
	last := s.last.Load()
	if last == nil || now.Sub(last.at) > WorkerTimeout/2 {
		return nil, false
	}
	return last.workers, true
}
