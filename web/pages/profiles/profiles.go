package profiles

import (
	"warpboard/web/site/runs"
)

// Profiles is the pages about what a run's time went into, and comparisons of two runs.
type Profiles struct{ *runs.Runs }

// New returns the pages about profiles.
func New(runs *runs.Runs) *Profiles { return &Profiles{runs} }
