package web

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
)

// Runs is what pages and the API share of submissions: who may see one, how one is submitted, and a run as
// people see it.
type Runs struct {
	*Site
	profileFacts factCache
}

// NewRuns returns the shared part of submissions, with an empty cache of profiles.
func NewRuns(site *Site) *Runs { return &Runs{Site: site} }

// Pages are the handlers that answer with HTML. Each reads the request, asks the store, shapes a
// view model and answers.
type Pages struct {
	*Runs
	signIn  *SignIn
	code    *views.Highlighter
	attacks []views.Attack
}

// NewPages returns the pages about tasks, boards, submissions, devices and accounts.
func NewPages(runs *Runs, signIn *SignIn, code *views.Highlighter, attacks []views.Attack) *Pages {
	return &Pages{Runs: runs, signIn: signIn, code: code, attacks: attacks}
}

// Authoring is the pages that make and change tasks.
type Authoring struct {
	*Runs
	bundleLimit int // bytes of a task's zip
}

// NewAuthoring returns the pages that make and change tasks.
func NewAuthoring(runs *Runs, bundleLimit int) *Authoring {
	return &Authoring{Runs: runs, bundleLimit: bundleLimit}
}

// bodyLimit lets creators send a task's zip.
func (p *Authoring) bodyLimit(c *fiber.Ctx) int {
	if user := viewer(c); user != nil && user.MayCreate() {
		return p.bundleLimit + KernelBody
	}
	return smallBody(c)
}

// Playground is the pages that evaluate single kernels.
type Playground struct {
	*Evaluations
	code *views.Highlighter
}

// NewPlayground returns the pages that evaluate single kernels.
func NewPlayground(evals *Evaluations, code *views.Highlighter) *Playground {
	return &Playground{Evaluations: evals, code: code}
}

// Profiles is the pages about what a run's time went into, and comparisons of two runs.
type Profiles struct{ *Runs }

// NewProfiles returns the pages about profiles.
func NewProfiles(runs *Runs) *Profiles { return &Profiles{runs} }
