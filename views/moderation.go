package views

import (
	"cmp"
	"fmt"
	"strings"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// RunReviewPage is for reports, the review and decisions about a run.
type RunReviewPage struct {
	Page
	Run   work.Run
	Task  TaskRef
	Owner Person
	// SourceOpen says that this reader may read the source.
	SourceOpen bool
	Files      []SourceFile     // for those who review the run and may read its source; the main one first
	Decisions  []accounts.Audit // about this run, the oldest first: everyone reads them
	Flags      []models.FlagOf  // that this reader may see
	Open       bool             // one of them awaits review
	Note       string           // the owner's note on a record
	NoteOpen   bool             // everyone reads it now, and not only after the deadline

	// Who may decide needs no report.
	MayReport, MayReview, MayDisqualify, MayReinstate, MayNote, MayRemoveNote bool

	Problem string // why the form was refused …
	Act     string // … which: "report", "dismiss", "disqualify", "reinstate" or "note"
	Typed   string // what was in it
}

// AuditPage is the log of what was done by whom, when and why.
type AuditPage struct {
	Page
	Search string
	Rows   []accounts.Audit
	Older  int64 // line that the next page begins before; 0 on the last
}

// said is an act and its subject as one reads them: "pause device" of "device CPU" is "pause device CPU", and not more.
func said(r accounts.Audit) (act, subject string) {
	for i := range r.Subject {
		if r.Subject[i] == ' ' && strings.HasSuffix(" "+r.Act, " "+r.Subject[:i]) {
			return r.Act + " ", cmp.Or(r.About, r.Subject[i+1:])
		}
	}
	return r.Act + ": ", cmp.Or(r.About, r.Subject)
}

// subjectURL is where the subject of an act is, empty when it has no page.
func subjectURL(r accounts.Audit) string {
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
	Search string
	Rows   []accounts.SeenUser
	Number int // of the page, from 1
	More   bool
}

func (p PeoplePage) url(number int) string {
	return fmt.Sprintf("/people?q=%s&page=%d", queryText(p.Search), number)
}

// RunReviewURL is the page for reports and decisions about a run.
func RunReviewURL(runID int64) string { return fmt.Sprintf("/runs/%d/moderation", runID) }
