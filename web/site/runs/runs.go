package runs

import (
	"warpboard/web/site"
)

// Runs is what pages and the API share of submissions: who may see one, how one is submitted, and a run as
// people see it.
type Runs struct {
	*site.Site
	profileFacts factCache
	reports      reportCache
}

// New returns the shared part of submissions, with empty caches of profiles.
func New(site *site.Site) *Runs { return &Runs{Site: site} }
