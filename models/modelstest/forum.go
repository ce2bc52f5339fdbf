package modelstest

import (
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/submissions"
)

// Forum has a public task of Carl with a submission of Ann, on which people can comment.
type Forum struct {
	*models.Store
	T                           testing.TB
	Admin, Carl, Ann, Bob, None accounts.User
	Task, OnSubmission          comments.Thread
}

// NewForum creates the people, the task, and the submission of a Forum.
func NewForum(t testing.TB, s *models.Store) *Forum {
	t.Helper()
	f := &Forum{Store: s, T: t, Admin: Person(t, s, "Root", accounts.RoleAdmin),
		Carl: Person(t, s, "Carl", accounts.RoleCreator),
		Ann:  Person(t, s, "Ann", accounts.RoleUser), Bob: Person(t, s, "Bob", accounts.RoleUser)}
	f.Task.Task = Task(t, s, f.Carl, "sort", "CPU")
	run := Submit(t, s, f.Ann, f.Task.Task)[0]
	sub := Got[map[int64]submissions.SubmissionDetails](t)(s.Submissions.Details(t.Context(),
		run.SubmissionID))[run.SubmissionID].Submission
	f.OnSubmission = comments.Thread{Task: f.Task.Task, Submission: &sub}
	return f
}

// CloseAt sets the deadline of the task.
func (f *Forum) CloseAt(deadline *time.Time) {
	f.T.Helper()
	in := f.Task.Task.Settings()
	in.Deadline = deadline
	f.Task.Task = Got[catalog.Task](f.T)(f.Catalog.UpdateTask(f.T.Context(), f.Carl, f.Task.Task.ID, in))
	f.OnSubmission.Task = f.Task.Task
}

// CloseTask moves the deadline of the task into the past.
func (f *Forum) CloseTask() { past := time.Now().Add(-time.Hour); f.CloseAt(&past) }

// Add adds a comment of a person.
func (f *Forum) Add(who accounts.User, on comments.Thread, body string) comments.Comment {
	f.T.Helper()
	return Got[comments.Comment](f.T)(f.Comments.Add(f.T.Context(), who, on, body))
}
