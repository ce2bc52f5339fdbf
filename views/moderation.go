package views

import (
	"fmt"
	"strings"
	"time"
)

// Verdict is what people decided about a run; the zero Verdict is nothing.
type Verdict struct {
	Disqualified bool
	Why          string // of a disqualified run, for everyone
	Reinstated   string // why a run that was disqualified counts again
	Held         string // why it does not count before someone has looked
}

// RunReviewPage is where a run is reported, looked at and decided about.
type RunReviewPage struct {
	Page
	RunID        int64
	SubmissionID int64
	Task         TaskRef
	Device       string
	Owner        Person
	ScoreNS      *float64
	Verdict
	Decisions []LogRow  // about this run, the oldest first: everyone reads them
	Flags     []FlagRow // that this reader may see
	Open      bool      // one of them awaits review
	Note      string    // what the owner says of a record
	NoteOpen  bool      // everyone reads it now, and not only after the deadline

	// Who may decide needs no report.
	MayReport, MayReview, MayDisqualify, MayReinstate, MayNote, MayRemoveNote bool

	Problem string // why the form was refused …
	Act     string // … which: "report", "dismiss", "disqualify", "reinstate" or "note"
	Typed   string // what was in it
}

// FlagRow is one thing that asks for a look at a run.
type FlagRow struct {
	Kind    string // models.FlagKind: "report", "clocks", "held", "source", "unconfirmed"
	By      Person // who reported it; zero: the site
	Detail  string
	When    time.Time
	Open    bool
	Outcome string
}

// says puts the flag in words.
func (f FlagRow) says() string {
	switch f.Kind {
	case "clocks":
		return "The kernel's events and the judge's clock differ by more than the clock's error."
	case "unconfirmed":
		return "The confirmation of its first place ended without numbers: " + f.Detail
	case "source":
		return "The source has a pattern that occurs in some false times: " + f.Detail + "."
	}
	return f.Detail
}

// ReviewPage lists runs that wait for a look.
type ReviewPage struct {
	Page
	Task string // slug of the one task that is shown; empty: all
	Rows []ReviewRow
	Next int64 // flag that the next page begins after; 0 on the last
}

// ReviewRow is a run with its open flags.
type ReviewRow struct {
	RunID        int64
	SubmissionID int64
	Task         TaskRef
	Device       string
	Person       Person
	ScoreNS      *float64
	Flags        []FlagRow
}

// AuditPage is the log of what was done by whom, when and why.
type AuditPage struct {
	Page
	Search string
	Rows   []LogRow
	Older  int64 // line that the next page begins before; 0 on the last
}

// LogRow is one act.
type LogRow struct {
	When    time.Time
	By      Person // ID 0: the operator, by flag or command
	Act     string
	Subject string // "run 17"
	Detail  string
}

// said is the act and its subject as one reads them: "pause device" of "device CPU" is "pause device CPU", and not more.
func (r LogRow) said() (act, subject string) {
	for i := range r.Subject {
		if r.Subject[i] == ' ' && strings.HasSuffix(" "+r.Act, " "+r.Subject[:i]) {
			return r.Act + " ", r.Subject[i+1:]
		}
	}
	return r.Act + ": ", r.Subject
}

// url is where the subject of an act is, empty when it has no page.
func (r LogRow) url() string {
	kind, name, _ := strings.Cut(r.Subject, " ")
	switch kind {
	case "run":
		return "/runs/" + name + "/moderation"
	case "user", "submission", "webhook":
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
	Rows   []PersonRow
	Number int // of the page, from 1
	More   bool
}

// PersonRow is one of them.
type PersonRow struct {
	Person
	Role    string
	Blocked bool
	Since   time.Time
	Seen    time.Time // zero: never, or long ago
}

func (p PeoplePage) url(number int) string {
	return fmt.Sprintf("/people?q=%s&page=%d", queryText(p.Search), number)
}

// RunReviewURL is the page where a run is reported and decided about.
func RunReviewURL(runID int64) string { return fmt.Sprintf("/runs/%d/moderation", runID) }
