package models_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
)

// forum is a site on which people comment: a public task of Carl's with a submission of Ann's.
type forum struct {
	*models.Store
	t                           *testing.T
	admin, carl, ann, bob, none accounts.User
	task, onSubmission          comments.Thread
}

func newForum(t *testing.T, s *models.Store) *forum {
	f := &forum{Store: s, t: t, admin: modelstest.Person(t, s, "Root", accounts.RoleAdmin), carl: modelstest.Person(t, s, "Carl", accounts.RoleCreator),
		ann: modelstest.Person(t, s, "Ann", accounts.RoleUser), bob: modelstest.Person(t, s, "Bob", accounts.RoleUser)}
	f.task.Task = modelstest.Task(t, s, f.carl, "sort", "CPU")
	run := modelstest.Submit(t, s, f.ann, f.task.Task)[0]
	sub := modelstest.Got[map[int64]submissions.Filed](t)(s.Submissions.Filed(t.Context(), run.SubmissionID))[run.SubmissionID].Submission
	f.onSubmission = comments.Thread{Task: f.task.Task, Submission: &sub}
	return f
}

// closeAt moves the task's deadline.
func (f *forum) closeAt(deadline *time.Time) {
	f.t.Helper()
	in := f.task.Task.Settings()
	in.Deadline = deadline
	f.task.Task = modelstest.Got[catalog.Task](f.t)(f.Catalog.UpdateTask(f.t.Context(), f.carl, f.task.Task.ID, in))
	f.onSubmission.Task = f.task.Task
}

func (f *forum) closeTask() { past := time.Now().Add(-time.Hour); f.closeAt(&past) }

func (f *forum) add(who accounts.User, on comments.Thread, body string) comments.Comment {
	f.t.Helper()
	return modelstest.Got[comments.Comment](f.t)(f.Comments.Add(f.t.Context(), who, on, body))
}

// texts are what a viewer reads there.
func (f *forum) texts(who accounts.User, on comments.Thread) (list []string) {
	f.t.Helper()
	for _, c := range modelstest.Got[[]comments.Listed](f.t)(f.Comments.List(f.t.Context(), who, on, 0, 100)) {
		list = append(list, c.UserName+": "+c.Body)
	}
	return list
}

func (f *forum) refused(err error, kind db.Kind, says string) {
	f.t.Helper()
	if db.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		f.t.Errorf("got %v, want %s: …%s…", err, kind, says)
	}
}

func (f *forum) count(on comments.Thread) (n int) {
	f.t.Helper()
	table, id := "tasks", on.Task.ID
	if on.Submission != nil {
		table, id = "submissions", on.Submission.ID
	}
	modelstest.Check(f.t, f.SQL().QueryRowContext(f.t.Context(), fmt.Sprintf("select comments from %s where id = %d", table, id)).Scan(&n))
	return n
}

func TestCommentsAreAFlatListBelowTheAuthorsText(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.add(f.bob, f.task, "  Is *n* even?\r\nI hope. ")
		f.add(f.ann, f.task, "Yes.")
		_, err := s.Comments.SetWriteup(t.Context(), f.bob, f.task, "Mine on top")
		f.refused(err, db.Forbidden, "Only the author")
		for _, text := range []string{"Draft", "How to begin"} {
			modelstest.Got[comments.Comment](t)(s.Comments.SetWriteup(t.Context(), f.carl, f.task, text))
		}
		want := []string{"Carl: How to begin", "Bob: Is *n* even?\nI hope.", "Ann: Yes."}
		if list := f.texts(f.none, f.task); !slices.Equal(list, want) || f.count(f.task) != 3 {
			t.Errorf("a visitor reads %q, and the task counts %d", list, f.count(f.task))
		}
		page := modelstest.Got[[]comments.Listed](t)(s.Comments.List(t.Context(), f.none, f.task, 0, 2))
		if rest := modelstest.Got[[]comments.Listed](t)(s.Comments.List(t.Context(), f.none, f.task, page[1].ID, 2)); len(rest) != 1 || rest[0].Body != "Yes." {
			t.Errorf("the second page has %+v", rest)
		}
	})
}

func TestCommentsOnASubmissionNeedAPublicSource(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		for _, who := range []accounts.User{f.ann, f.bob, f.carl, f.admin} {
			_, err := s.Comments.Add(t.Context(), who, f.onSubmission, "int main() quoted")
			f.refused(err, db.Forbidden, "after the task's deadline")
		}
		f.closeTask()
		quoted := f.add(f.bob, f.onSubmission, "#L1 is int main() quoted")
		modelstest.Got[comments.Comment](t)(s.Comments.SetWriteup(t.Context(), f.ann, f.onSubmission, "My tiling"))
		modelstest.Check(t, s.Comments.Report(t.Context(), f.ann, quoted.ID, "it is wrong"))
		if list := f.texts(f.none, f.onSubmission); len(list) != 2 {
			t.Errorf("a visitor reads %q", list)
		}
		if list := modelstest.Got[[]comments.Reported](t)(s.Comments.Reported(t.Context(), f.carl, 10)); len(list) != 1 || list[0].Reports != 1 {
			t.Errorf("the task's author has to decide about %+v", list)
		}
		later := time.Now().Add(time.Hour)
		f.closeAt(&later) // the source is hidden again
		for _, who := range []accounts.User{f.none, f.ann, f.bob, f.carl, f.admin} {
			_, err := s.Comments.List(t.Context(), who, f.onSubmission, 0, 10)
			f.refused(err, db.Forbidden, "after the task's deadline")
			_, _, err = s.Comments.Comment(t.Context(), who, quoted.ID)
			f.refused(err, db.NotFound, "no comment")
			if list, err := s.Comments.Reported(t.Context(), who, 10); err != nil || len(list) != 0 {
				t.Errorf("%s is shown a quote among the reports: %v", who.Name, err)
			}
		}
	})
}

func TestOnlyWhoSeesATaskFindsItsComments(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.closeTask()
		about, on := f.add(f.bob, f.task, "secret"), f.add(f.bob, f.onSubmission, "secret too")
		for _, who := range []catalog.Visibility{catalog.Hidden, catalog.Members} {
			in := f.task.Task.Settings()
			in.Visibility = who
			f.task.Task = modelstest.Got[catalog.Task](t)(s.Catalog.UpdateTask(t.Context(), f.carl, f.task.Task.ID, in))
			f.onSubmission.Task = f.task.Task
			for _, viewer := range []accounts.User{f.none, f.bob, f.ann} { // they wrote there, and submitted
				for _, thread := range []comments.Thread{f.task, f.onSubmission} {
					_, err := s.Comments.List(t.Context(), viewer, thread, 0, 10)
					f.refused(err, db.NotFound, "There is no")
					_, err = s.Comments.Add(t.Context(), viewer, thread, "hello")
					f.refused(err, db.NotFound, "There is no")
					f.refused(s.Comments.Lock(t.Context(), viewer, thread, true), db.NotFound, "There is no")
				}
				for _, id := range []int64{about.ID, on.ID} {
					_, _, err := s.Comments.Comment(t.Context(), viewer, id)
					f.refused(err, db.NotFound, "no comment")
					f.refused(s.Comments.Report(t.Context(), viewer, id, "why"), db.NotFound, "no comment")
					_, err = s.Comments.Hide(t.Context(), viewer, id, "why")
					f.refused(err, db.NotFound, "no comment")
				}
			}
			if list := f.texts(f.carl, f.task); len(list) != 1 {
				t.Errorf("the author reads %q", list)
			}
		}
	})
}

func TestAHiddenCommentIsReadByItsAuthorAndModerators(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		spam := f.add(f.bob, f.task, "Buy pills")
		f.refused(s.Comments.Report(t.Context(), f.bob, spam.ID, "mine"), db.Forbidden, "You can delete your own")
		modelstest.Check(t, s.Comments.Report(t.Context(), f.ann, spam.ID, "an advertisement"))
		f.refused(s.Comments.Report(t.Context(), f.ann, spam.ID, "again"), db.Conflict, "already")
		_, err := s.Comments.Hide(t.Context(), f.ann, spam.ID, "I want to")
		f.refused(err, db.Forbidden, "Only the author of the task")
		_, err = s.Comments.Hide(t.Context(), f.admin, spam.ID, "an advertisement")
		modelstest.Check(t, err)
		for who, sees := range map[*accounts.User]bool{&f.none: false, &f.ann: false, &f.bob: true, &f.carl: true, &f.admin: true} {
			if list := f.texts(*who, f.task); (len(list) == 1) != sees {
				t.Errorf("%q reads %q", who.Name, list)
			}
			if _, _, err := s.Comments.Comment(t.Context(), *who, spam.ID); (err == nil) != sees {
				t.Errorf("%q finds it: %v", who.Name, err)
			}
		}
		if f.count(f.task) != 0 || len(modelstest.Got[[]comments.Reported](t)(s.Comments.Reported(t.Context(), f.carl, 10))) != 0 {
			t.Error("it counts, or still waits for a decision")
		}
		_, err = s.Comments.Hide(t.Context(), f.carl, spam.ID, "now it is mine to show")
		f.refused(err, db.Conflict, "hidden already")
		_, err = s.Comments.Show(t.Context(), f.carl, spam.ID, "I like it")
		f.refused(err, db.Forbidden, "Only the person who hid")
		_, err = s.Comments.Show(t.Context(), f.admin, spam.ID, "a mistake")
		modelstest.Check(t, err)
		_, err = s.Comments.Remove(t.Context(), f.ann, spam.ID)
		f.refused(err, db.Forbidden, "Only the person who wrote")
		_, err = s.Comments.Remove(t.Context(), f.bob, spam.ID)
		modelstest.Check(t, err)
		var body string
		modelstest.Check(t, s.SQL().QueryRowContext(t.Context(), fmt.Sprintf("select body from comments where id = %d", spam.ID)).Scan(&body))
		if body != "" || len(f.texts(f.admin, f.task)) != 0 {
			t.Errorf("a deleted comment is kept: %q", body)
		}
		acts := modelstest.Got[[]accounts.Audit](t)(s.Accounts.Audits(t.Context(), f.admin, fmt.Sprintf("comment %d", spam.ID), 0, 10))
		if len(acts) != 2 || acts[0].Act != "show comment" || acts[1].Act != "hide comment" || acts[1].Detail != "an advertisement" {
			t.Errorf("the audit log has %+v", acts)
		}
	})
}

func TestAdminsDecideAboutCommentsOfATasksAuthor(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		own := f.add(f.carl, f.task, "rude")
		modelstest.Check(t, s.Comments.Report(t.Context(), f.ann, own.ID, "rude"))
		if n := len(modelstest.Got[[]comments.Reported](t)(s.Comments.Reported(t.Context(), f.carl, 10))) + len(modelstest.Got[[]comments.ReportOf](t)(s.Comments.Reports(t.Context(), f.carl, own.ID))); n != 0 {
			t.Error("the author reads who reported the author")
		}
		_, err := s.Comments.Dismiss(t.Context(), f.carl, own.ID, "not rude")
		f.refused(err, db.Forbidden, "Admins decide")
		if list := modelstest.Got[[]comments.Reported](t)(s.Comments.Reported(t.Context(), f.admin, 10)); len(list) != 1 {
			t.Errorf("admins find %+v", list)
		}
	})
}

func TestRemovedCommentsLeaveRoomForOthers(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		fill := `insert into comments (task_id, user_id, body, created_at%s)
			select t.id, %d, a.n || '-' || b.n || '-' || c.n, '2020-01-01'%s from tasks t, (%[4]s) a, (%[4]s) b, (%[4]s) c where t.id = %[5]d and a.n < 5`
		numbers := "select 0 as n"
		for i := 1; i < 20; i++ {
			numbers += fmt.Sprint(" union all select ", i)
		}
		many := func(columns, values string) {
			t.Helper()
			modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(), fmt.Sprintf(fill, columns, f.bob.ID, values, numbers, f.task.Task.ID))))
		}
		many(", removed_at", ", '2020-01-01'")
		f.add(f.ann, f.task, "there is room")
		many("", "")
		_, err := s.Comments.Add(t.Context(), f.ann, f.task, "full")
		f.refused(err, db.Conflict, "the most that are taken")
		f.add(f.carl, f.task, "its author still writes")
	})
}

func TestOneWritesSoMuchAnHourAndNotWhereItIsLocked(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		first := f.add(f.bob, f.task, "0")
		_, err := s.Comments.Add(t.Context(), f.bob, f.task, "0")
		f.refused(err, db.Conflict, "already")
		_, err = s.Comments.Remove(t.Context(), f.bob, first.ID) // which buys nothing
		modelstest.Check(t, err)
		for i := range 19 {
			f.add(f.bob, f.task, fmt.Sprint(i+1))
		}
		_, err = s.Comments.Add(t.Context(), f.bob, f.task, "one too many")
		f.refused(err, db.TooMany, "At most 20 comments")
		for body, says := range map[string]string{"": "Write something", " \u200b\n": "Write something", strings.Repeat("ä", 4001): "4001 characters"} {
			_, err = s.Comments.Add(t.Context(), f.ann, f.task, body)
			f.refused(err, db.Invalid, says)
		}
		f.add(f.ann, f.task, "hello")
		f.refused(s.Comments.Lock(t.Context(), f.ann, f.task, true), db.Forbidden, "Only the author of the task")
		modelstest.Check(t, s.Comments.Lock(t.Context(), f.carl, f.task, true))
		_, err = s.Comments.Add(t.Context(), f.ann, f.task, "still here")
		f.refused(err, db.Forbidden, "locked")
		f.add(f.carl, f.task, "I lock this.")
		modelstest.Check(t, s.Comments.Lock(t.Context(), f.carl, f.task, false))
		f.add(f.ann, f.task, "still here")
	})
}

func TestAnOrganizerClosesCommentsDuringAnEvent(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		in := events.Settings{Title: "Cup", StartsAt: time.Now().Add(-time.Hour), EndsAt: time.Now().Add(time.Hour), Points: "1", Tasks: []string{f.task.Task.Slug}}
		e := modelstest.Got[events.Event](t)(s.Events.Create(t.Context(), f.carl, in))
		f.add(f.ann, f.task, "open")
		in.CommentsClosed = true
		modelstest.Got[events.Event](t)(s.Events.Update(t.Context(), f.carl, e.Slug, in))
		_, err := s.Comments.Add(t.Context(), f.ann, f.task, "closed")
		f.refused(err, db.Forbidden, "until the event Cup ends")
		f.add(f.carl, f.task, "the organizer answers")
		in.EndsAt = time.Now().Add(-time.Minute)
		modelstest.Got[events.Event](t)(s.Events.Update(t.Context(), f.carl, e.Slug, in))
		f.add(f.ann, f.task, "open again")
	})
}
