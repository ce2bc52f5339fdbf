package views

import (
	"net/url"
	"time"

	"github.com/a-h/templ"

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
	Task         TaskRef
	Device       string
	Person       Person
	SubmissionID int64
	RunID        int64
	WasNS        float64
	NowNS        float64 // 0: not measured
	Change       string
	WasPlace     int // among those that were measured again
	NowPlace     int // 0: it leaves the board
	Failed       string
	Undone       string
	Waits        bool
}

// DriftURL is the page of a device's software and what it changed.
func DriftURL(device string) templ.SafeURL {
	return templ.SafeURL("/devices/" + url.PathEscape(device) + "/drift")
}

// NewRatio describes a score after and before, each with its interval; nil where there is none.
func NewRatio(was float64, wasLow, wasHigh *float64, now float64, nowLow, nowHigh *float64) string {
	or := func(p *float64, score float64) float64 {
		if p == nil || !(*p > 0) {
			return score
		}
		return *p
	}
	if !(was > 0) {
		return ""
	}
	return format.Change(now/was, or(nowLow, now)/or(wasHigh, was), or(nowHigh, now)/or(wasLow, was))
}
