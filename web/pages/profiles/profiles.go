package profiles

import (
	"crypto/sha256"
	"runtime"

	"warpboard/internal/cache"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Profiles is the pages about what a run's time went into, and comparisons of two runs.
type Profiles struct {
	site    *site.Site
	runs    *runs.Runs
	charts  *cache.Cache[[sha256.Size]byte, []byte] // HTML, see drawn
	drawing chan struct{}                           // has room for as many as there are cores
}

// New returns the pages about profiles.
func New(site *site.Site, runs *runs.Runs) *Profiles {
	return &Profiles{site: site, runs: runs, charts: cache.New[[sha256.Size]byte, []byte](mostDrawn), drawing: make(chan struct{}, runtime.GOMAXPROCS(0))}
}
