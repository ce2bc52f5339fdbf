package views

import (
	"net/url"
	"time"

	"github.com/a-h/templ"

	"warpboard/models"
	"warpboard/models/fleet"
	"warpboard/views/format"
)

// DriftPage shows how updates of software changed the scores of a device.
type DriftPage struct {
	Page
	Device        string
	Epochs        []EpochRow
	Workers       []fleet.Worker // workers that have the device
	UpdateEffects []SoftwareUpdateEffect
}

// EpochRow is the software that a device had for some time.
type EpochRow struct {
	Since    time.Time
	Kind     string // kind of tasks that use the software
	Software string
}

// SoftwareUpdateEffect is the effect of one update of the software.
type SoftwareUpdateEffect struct {
	BeganAt  time.Time
	Software string   // new software
	Changes  []string // changes from the previous software: "driver 570 → 580"
	Rows     []RerunRow
	Summary  string
}

// RerunPage lets the author of a task measure its runs again.
type RerunPage struct {
	Page
	Task          TaskRef
	LastOrder     *models.RerunOrder // nil if there was none
	WaitingRuns   int                // number of runs not measured yet
	Boards        []RerunBoard
	RefusalReason string
	FormText      string
}

// RerunBoard is the effect of measuring again on a board.
type RerunBoard struct {
	Device string
	Rows   []RerunRow
}

// IsInProgress reports whether measuring again is in progress or waits for a decision.
func (p RerunPage) IsInProgress() bool {
	return p.LastOrder != nil && p.LastOrder.AppliedAt == nil && !p.LastOrder.Cancelled
}

// RerunRow is a run with its numbers before and after it was measured again.
type RerunRow struct {
	models.Rerun
	OldPlace int // rank among the runs measured again
	NewPlace int // 0 if it leaves the board
}

// DriftURL returns the address of the page of a device's software and its effects.
func DriftURL(device string) templ.SafeURL {
	return templ.SafeURL("/devices/" + url.PathEscape(device) + "/drift")
}

// scoreChangeText formats a score after and before, each with its interval if there is one.
func (r RerunRow) scoreChangeText() string {
	or := func(p *float64, score float64) float64 {
		if p == nil || !(*p > 0) {
			return score
		}
		return *p
	}
	if r.ScoreNS == nil || !(r.ScoreBefore.ScoreNS > 0) {
		return ""
	}
	was, now := r.ScoreBefore.ScoreNS, *r.ScoreNS
	return format.ScoreChange(now/was, or(r.LowNS, now)/or(r.ScoreBefore.HighNS, was), or(r.HighNS, now)/or(r.ScoreBefore.LowNS, was))
}
