package pages

import (
	"warpboard/views"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Pages are the handlers that answer with HTML. Each reads the request, queries the store, shapes a view model and answers.
type Pages struct {
	site    *site.Site
	runs    *runs.Runs
	signIn  *signin.SignIn
	code    *views.Highlighter
	attacks []views.Attack
	contact string // where to report holes

	activity activity
}

// New returns the pages about tasks, boards, submissions, devices and accounts.
func New(site *site.Site, runs *runs.Runs, signIn *signin.SignIn, code *views.Highlighter, attacks []views.Attack, contact string) *Pages {
	return &Pages{site: site, runs: runs, signIn: signIn, code: code, attacks: attacks, contact: contact}
}
