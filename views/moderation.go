package views

import (
	"cmp"
	"fmt"
	"strings"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// RunReviewPage is the page for reports, reviews, and decisions about a run.
type RunReviewPage struct {
	Page
	Run   work.Run
	Task  TaskRef
	Owner Person
	// MayReadSource means that the viewer may read the source.
	MayReadSource bool
	Files         []SourceFile              // for reviewers who may read the source; main file first
	Decisions     []accounts.AuditEntry     // public decisions about this run, oldest first
	Flags         []models.FlagWithReporter // flags that this reader may see
	HasOpenFlag   bool                      // a flag awaits review
	Note          string                    // the owner's note on a record
	NoteIsPublic  bool                      // the note is public now, not only after the deadline

	// The viewer's permissions. A person who may decide needs no report, so MayReport is false then.
	MayReport, MayReview, MayDisqualify, MayReinstate, MayNote, MayRemoveNote bool

	RefusalReason   string // reason for refusing the submitted form; empty if none was refused
	RefusedFormName string // name of the refused form: "report", "dismiss", "disqualify", "reinstate", or "note"
	RefusedText     string // content of the refused form
}

// AuditPage is the log of actions with actor, time, and reason.
type AuditPage struct {
	Page
	Search      string
	Rows        []accounts.AuditEntry
	OlderThanID int64 // ID of the last row, after which the next page begins; 0 on the last page
}

// describeAct returns an action and its subject without repetition: "pause device CPU" for "pause device" of "device
// CPU".
func describeAct(r accounts.AuditEntry) (act, subject string) {
	for i := range r.Subject {
		if r.Subject[i] == ' ' && strings.HasSuffix(" "+r.ActName, " "+r.Subject[:i]) {
			return r.ActName + " ", cmp.Or(r.SubjectName, r.Subject[i+1:])
		}
	}
	return r.ActName + ": ", cmp.Or(r.SubjectName, r.Subject)
}

// subjectURL returns the address of the subject of an action; "" if it has no page.
func subjectURL(r accounts.AuditEntry) string {
	kind, name, _ := strings.Cut(r.Subject, " ")
	switch kind {
	case "run":
		return "/runs/" + name + "/moderation"
	case "user", "submission", "webhook", "comment":
		return "/" + kind + "s/" + name
	case "person":
		return "/users/" + name
	case "task":
		return string(TaskURL(name))
	}
	return ""
}

// PeoplePage lists people for admins.
type PeoplePage struct {
	Page
	SearchText string
	Rows       []accounts.UserWithLastVisit
	PageNumber int // number of the page, from 1
	HasMore    bool
}

func (p PeoplePage) url(number int) string {
	return fmt.Sprintf("/people?q=%s&page=%d", escapeQuery(p.SearchText), number)
}

// RunReviewURL returns the address of the page for reports and decisions about a run.
func RunReviewURL(runID int64) string { return fmt.Sprintf("/runs/%d/moderation", runID) }
