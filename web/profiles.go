package web

// Profiles is the pages about what a run's time went into, and comparisons of two runs.
type Profiles struct{ *Runs }

// NewProfiles returns the pages about profiles.
func NewProfiles(runs *Runs) *Profiles { return &Profiles{runs} }
