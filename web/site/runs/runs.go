package runs

import (
	"runtime"

	"warpboard/evaluator/ncu"
	"warpboard/internal/cache"
	"warpboard/web/site"
)

// Runs is the part of submissions that pages and the API share: access rights, submitting, and the views of runs.
type Runs struct {
	site             *site.Site
	reportFactsCache *cache.Cache[string, reportFacts] // key: hash of the report, as in reportCache
	reportCache      *cache.Cache[string, *ncu.Report]
	readPermits      chan struct{} // one element for each CPU core, to limit concurrent reading of reports
}

// New returns the shared part of submissions, with empty caches.
func New(site *site.Site) *Runs {
	return &Runs{
		site:             site,
		reportFactsCache: cache.New[string, reportFacts](maxCachedFacts),
		reportCache:      cache.New[string, *ncu.Report](maxCachedReports),
		readPermits:      make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}
