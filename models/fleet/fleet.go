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
	db               *db.DB
	reportCache      reportCache
	requirementCache *cache.Cache[string, []requirement.Requirement]
	lastReading      atomic.Pointer[workerReading]
}

// New returns the workers in a database.
func New(database *db.DB) *Fleet {
	return &Fleet{
		db:               database,
		reportCache:      newReportCache(),
		requirementCache: cache.New[string, []requirement.Requirement](maxCachedBytes),
	}
}

// workerReading is a list of workers and the time at which it was read.
type workerReading struct {
	workers []Worker
	readAt  time.Time
}

// RecentWorkers returns the workers as this process read them last, for pages that must not query. ok is false if that
// was too long ago for distinguishing live workers. The dispatcher reads them regularly.
func (s *Fleet) RecentWorkers(now time.Time) (workers []Worker, ok bool) {
	last := s.lastReading.Load()
	if last == nil || now.Sub(last.readAt) > WorkerTimeout/2 {
		return nil, false
	}
	return last.workers, true
}
