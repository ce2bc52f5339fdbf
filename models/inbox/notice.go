package inbox

import (
	"fmt"
	"net/url"
	"time"
)

// NoticeKind is the kind of a notice, by which people choose notices.
type NoticeKind string

// Kinds of notices.
const (
	RunEnded        NoticeKind = "run.ended"        // the person's run ended, after a minute or more
	RecordLost      NoticeKind = "record.lost"      // another person took the person's record
	FirstPlaceRerun NoticeKind = "record.confirmed" // the person's entry in 1st place was measured again
	PlaceLost       NoticeKind = "place.lost"       // another person passed the person on a board
	// CommentAdded: a comment on the person's task or submission, or in a thread where the person commented
	CommentAdded NoticeKind = "comment.added"
	DeadlineNear NoticeKind = "deadline.near" // a task to which the person submitted closes within a day
)

// AllNoticeKinds lists all kinds of notices.
func AllNoticeKinds() []NoticeKind {
	return []NoticeKind{RunEnded, RecordLost, FirstPlaceRerun, PlaceLost, CommentAdded, DeadlineNear}
}

// Description describes a kind on the settings page.
func (k NoticeKind) Description() string {
	return map[NoticeKind]string{
		RunEnded:        "One of your runs ends after a minute or more",
		RecordLost:      "Someone takes your record",
		FirstPlaceRerun: "A run of yours that came first was measured again",
		PlaceLost:       "Someone passes you in the top ten of a board",
		CommentAdded:    "Someone comments on your task or submission, or in a thread you commented in",
		DeadlineNear:    "A task to which you have submitted closes within 24 hours",
	}[k]
}

// stillFirstAfterConfirmation is the state in a notice that a run is still in 1st place after its confirmation.
const stillFirstAfterConfirmation = "first"

// Notice is one message in a person's inbox.
type Notice struct {
	ID           int64
	UserID       int64 // owner of the inbox
	Kind         NoticeKind
	TaskID       int64
	SubmissionID *int64
	CommentID    *int64
	ActorID      int64 // person who caused it; 0 for the site
	Device       string
	RunState     string `gorm:"column:state"` // state of the ended run
	CreatedAt    time.Time
}

// NamedNotice is a notice with the names that its text contains.
type NamedNotice struct {
	Notice
	ActorName string
	TaskSlug  string
	TaskTitle string
	Deadline  *time.Time // deadline of the task
}

// Text returns the text of the notice.
func (t NamedNotice) Text() string {
	switch on := t.TaskTitle + " on " + t.Device; t.Kind {
	case RunEnded:
		return fmt.Sprintf("Your run of %s has ended: %s.", on, runEndedText(t.RunState))
	case RecordLost:
		return fmt.Sprintf("%s took your record: %s.", t.ActorName, on)
	case FirstPlaceRerun:
		if t.RunState == stillFirstAfterConfirmation {
			return fmt.Sprintf("Your 1st place is confirmed: %s.", on)
		}
		return fmt.Sprintf("Your run was measured again and is not 1st: %s.", on)
	case PlaceLost:
		return fmt.Sprintf("%s passed you: %s.", t.ActorName, on)
	case CommentAdded:
		if t.SubmissionID != nil {
			return fmt.Sprintf("%s commented on submission %d to %s.", t.ActorName, *t.SubmissionID, t.TaskTitle)
		}
		return fmt.Sprintf("%s commented on %s.", t.ActorName, t.TaskTitle)
	case DeadlineNear:
		return fmt.Sprintf("%s closes within 24 hours.", t.TaskTitle)
	}
	return string(t.Kind)
}

func runEndedText(state string) string {
	if state == "done" {
		return "passed"
	}
	return state
}

// Path returns the path of the page that the notice is about.
func (t NamedNotice) Path() string {
	task := "/tasks/" + url.PathEscape(t.TaskSlug)
	switch {
	case t.Kind == CommentAdded && t.CommentID != nil:
		list := task + "/comments"
		if t.SubmissionID != nil {
			list = fmt.Sprintf("/submissions/%d/comments", *t.SubmissionID)
		}
		return fmt.Sprintf("%s?after=%d#comment-%d", list, *t.CommentID-1, *t.CommentID)
	case t.Kind == RunEnded && t.SubmissionID != nil:
		return fmt.Sprintf("/submissions/%d", *t.SubmissionID)
	case t.Kind == RecordLost || t.Kind == PlaceLost || t.Kind == FirstPlaceRerun:
		return task + "/boards/" + url.PathEscape(t.Device)
	}
	return task
}
