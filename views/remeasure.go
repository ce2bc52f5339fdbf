package views

import (
	"net/url"
	"time"

	"github.com/a-h/templ"

	"warpboard/models/rejudge"
	"warpboard/views/format"
)

// DriftPage shows how new software changed the scores of a device.
type DriftPage struct {
	Page
	Device string
	Epochs []EpochRow
	Drifts []Drift
}

// EpochRow is software that a device has had.
type EpochRow struct {
	Since    time.Time
	Kind     string // of tasks that use it
	Software string
}

// Drift is what one change of the software did.
type Drift struct {
	When    time.Time
	Epoch   string   // the new software
	Changes []string // from the software before: "driver 570 → 580"
	Rows    []RerunRow
	Summary string
}

// RejudgePage has a task's runs measured again.
type RejudgePage struct {
	Page
	Task      TaskRef
	Reason    string // of the last rejudge; empty: there was none
	Began     time.Time
	Waiting   int // runs that are not measured yet
	Ended     bool
	Applied   bool
	Cancelled bool
	Boards    []RejudgedBoard
	Problem   string
	Typed     string
}

// RejudgedBoard is what would change on a board.
type RejudgedBoard struct {
	Device string
	Rows   []RerunRow
}

// Open reports whether a rejudge goes on or waits for a decision.
func (p RejudgePage) Open() bool { return p.Reason != "" && !p.Applied && !p.Cancelled }

// RerunRow is a run with its numbers before and after it was measured again.
type RerunRow struct {
	rejudge.Row
	WasPlace int // among those that were measured again
	NowPlace int // 0: it leaves the board
}

// DriftURL is the page of a device's software and what it changed.
func DriftURL(device string) templ.SafeURL {
	return templ.SafeURL("/devices/" + url.PathEscape(device) + "/drift")
}

// change describes a score after and before, each with its interval where there is one.
func (r RerunRow) change() string {
	or := func(p *float64, score float64) float64 {
		if p == nil || !(*p > 0) {
			return score
		}
		return *p
	}
	if r.NowNS == nil || !(r.WasNS > 0) {
		return ""
	}
	was, now := r.WasNS, *r.NowNS
	return format.Change(now/was, or(r.NowLow, now)/or(r.WasHigh, was), or(r.NowHigh, now)/or(r.WasLow, was))
}
