package moderation

import (
	"warpboard/models/boards"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// Moderation is the pages by which people keep the boards honest.
type Moderation struct {
	site *site.Site
	runs *runs.Runs
	code *views.Highlighter
}

// New returns the pages of moderation.
func New(site *site.Site, runs *runs.Runs, code *views.Highlighter) *Moderation {
	return &Moderation{site: site, runs: runs, code: code}
}

// announce notifies open pages that boards have changed.
func (m *Moderation) announce(changes []boards.Change) {
	for _, b := range changes {
		m.site.Hub.BoardChanged(b.VersionID, b.Device, b.Change)
	}
}
