package runs

import (
	"runtime"

	"warpboard/evaluator/ncu"
	"warpboard/internal/cache"
	"warpboard/web/site"
)

// Runs is what pages and the API share of submissions: who may see one, how one is submitted, and a run as
// people see it.
type Runs struct {
	site         *site.Site
	profileFacts *cache.Cache[string, reportFacts] // by the report's hash, as the next
	reports      *cache.Cache[string, *ncu.Report]
	reading      chan struct{} // has room for as many as there are cores
}

// New returns the shared part of submissions, with empty caches of profiles.
func New(site *site.Site) *Runs {
	return &Runs{site: site, profileFacts: cache.New[string, reportFacts](rememberedFacts), reports: cache.New[string, *ncu.Report](keptReports), reading: make(chan struct{}, runtime.GOMAXPROCS(0))}
}
