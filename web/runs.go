package web

// Runs is what pages and the API share of submissions: who may see one, how one is submitted, and a run as
// people see it.
type Runs struct {
	*Site
	profileFacts factCache
}

// NewRuns returns the shared part of submissions, with an empty cache of profiles.
func NewRuns(site *Site) *Runs { return &Runs{Site: site} }
