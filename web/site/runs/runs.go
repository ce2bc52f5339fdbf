package runs

import (
	"runtime"

	"warpboard/evaluator/ncu"
	"warpboard/internal/cache"
	"warpboard/web/site"
)

// Runs is the part of submissions that pages and the API share: access rights, submitting, and the views of runs.
type Runs struct {
	site         *site.Site
	profileFacts *cache.Cache[string, reportFacts] // by the report's hash, like reports
	reports      *cache.Cache[string, *ncu.Report]
	reading      chan struct{} // one place per core
}

// New returns the shared part of submissions, with empty caches.
func New(site *site.Site) *Runs {
	return &Runs{
		site:         site,
		profileFacts: cache.New[string, reportFacts](maxCachedFacts),
		reports:      cache.New[string, *ncu.Report](maxCachedReports),
		reading:      make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}
