package web

import "warpboard/views"

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
