// Package boards has the pages that people read: tasks and their collections, boards, leaderboards, events, and content
// for other sites and programs (badges, feeds, embeds, datasets).
//
// Read task.go and board.go first (the page of a task, and of one of its boards), then home.go (the list of tasks),
// submit.go (the form on a task's page). event.go and event_edit.go are competitions; share.go, badge.go, feed.go,
// dataset.go, kernelbot.go and discover.go are for other sites. Content for other sites is what a visitor may see, even
// if the request is from a signed-in person, so that nothing private is embedded in another site. Hidden tasks have no
// such content.
package boards

import (
	"runtime"

	"warpboard/views"
	"warpboard/web/signin"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Boards has the handlers of public pages: tasks, boards, events, and downloads.
type Boards struct {
	site         *site.Site
	runs         *runs.Runs
	signIn       *signin.SignIn
	highlighter  *views.Highlighter
	attacks      []views.Attack
	encoderSlots chan struct{} // semaphore: at most one dataset per CPU core is encoded at a time
}

// New returns the handlers of public pages.
func New(
	site *site.Site, runs *runs.Runs, signIn *signin.SignIn, code *views.Highlighter, attacks []views.Attack,
) *Boards {
	packing := make(chan struct{}, runtime.GOMAXPROCS(0))
	return &Boards{site: site, runs: runs, signIn: signIn, highlighter: code, attacks: attacks, encoderSlots: packing}
}
