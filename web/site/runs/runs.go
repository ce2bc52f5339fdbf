package runs

import (
	"warpboard/web/site"
)

// Runs is what pages and the API share of submissions: who may see one, how one is submitted, and a run as
// people see it.
type Runs struct {
	*site.Site
	profileFacts factCache
}

// New returns the shared part of submissions, with an empty cache of profiles.
func New(site *site.Site) *Runs { return &Runs{Site: site} }
