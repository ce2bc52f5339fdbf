package comments_test

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
)

type forum struct{ *modelstest.Forum }

func newForum(t *testing.T, s *models.Store) forum { return forum{modelstest.NewForum(t, s)} }

// texts lists the comments of a thread that a viewer can read, as "name: text".
func (f forum) texts(who accounts.User, on comments.Thread) (list []string) {
	f.T.Helper()
	for _, c := range modelstest.Got[[]comments.CommentRow](f.T)(f.Comments.List(f.T.Context(), who, on, 0, 100)) {
		list = append(list, c.UserName+": "+c.Body)
	}
	return list
}

func (f forum) refused(err error, kind db.ErrorKind, says string) {
	f.T.Helper()
	if db.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		f.T.Errorf("got %v, want %s: …%s…", err, kind, says)
	}
}

func (f forum) count(on comments.Thread) (n int) {
	f.T.Helper()
	table, id := "tasks", on.Task.ID
	if on.Submission != nil {
		table, id = "submissions", on.Submission.ID
	}
	modelstest.Check(f.T, f.SQL().QueryRowContext(f.T.Context(),
		fmt.Sprintf("select comments from %s where id = %d", table, id)).Scan(&n))
	return n
}

func TestCommentsAreAFlatListBelowTheAuthorsText(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.Add(f.Bob, f.Task, "  Is *n* even?\r\nI hope. ")
		f.Add(f.Ann, f.Task, "Yes.")
		_, err := s.Comments.SetWriteup(t.Context(), f.Bob, f.Task, "Mine on top")
		f.refused(err, db.Forbidden, "Only the author")
		for _, text := range []string{"Draft", "How to begin"} {
			modelstest.Got[comments.Comment](t)(s.Comments.SetWriteup(t.Context(), f.Carl, f.Task, text))
		}
		want := []string{"Carl: How to begin", "Bob: Is *n* even?\nI hope.", "Ann: Yes."}
		if list := f.texts(f.None, f.Task); !slices.Equal(list, want) || f.count(f.Task) != 3 {
			t.Errorf("a visitor reads %q, and the task counts %d", list, f.count(f.Task))
		}
		page := modelstest.Got[[]comments.CommentRow](t)(s.Comments.List(t.Context(), f.None, f.Task, 0, 2))
		if rest := modelstest.Got[[]comments.CommentRow](t)(s.Comments.List(t.Context(), f.None, f.Task, page[1].ID,
			2)); len(rest) != 1 || rest[0].Body != "Yes." {
			t.Errorf("the second page has %+v", rest)
		}
	})
}

func TestCommentsOnASubmissionNeedAPublicSource(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		for _, who := range []accounts.User{f.Ann, f.Bob, f.Carl, f.Admin} {
			_, err := s.Comments.Add(t.Context(), who, f.OnSubmission, "int main() quoted")
			f.refused(err, db.Forbidden, "after the task's deadline")
		}
		f.CloseTask()
		quoted := f.Add(f.Bob, f.OnSubmission, "#L1 is int main() quoted")
		modelstest.Got[comments.Comment](t)(s.Comments.SetWriteup(t.Context(), f.Ann, f.OnSubmission, "My tiling"))
		modelstest.Check(t, s.Comments.Report(t.Context(), f.Ann, quoted.ID, "it is wrong"))
		if list := f.texts(f.None, f.OnSubmission); len(list) != 2 {
			t.Errorf("a visitor reads %q", list)
		}
		if list := modelstest.Got[[]comments.ReportedComment](t)(s.Comments.ReportedComments(t.Context(), f.Carl,
			10)); len(list) != 1 || list[0].ReportCount != 1 {
			t.Errorf("the task's author has to decide about %+v", list)
		}
		later := time.Now().Add(time.Hour)
		f.CloseAt(&later) // the source is hidden again
		for _, who := range []accounts.User{f.None, f.Ann, f.Bob, f.Carl, f.Admin} {
			_, err := s.Comments.List(t.Context(), who, f.OnSubmission, 0, 10)
			f.refused(err, db.Forbidden, "after the task's deadline")
			_, _, err = s.Comments.Comment(t.Context(), who, quoted.ID)
			f.refused(err, db.NotFound, "no comment")
			if list, err := s.Comments.ReportedComments(t.Context(), who, 10); err != nil || len(list) != 0 {
				t.Errorf("%s is shown a quote among the reports: %v", who.Name, err)
			}
		}
	})
}

func TestOnlyWhoSeesATaskFindsItsComments(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.CloseTask()
		about, on := f.Add(f.Bob, f.Task, "secret"), f.Add(f.Bob, f.OnSubmission, "secret too")
		for _, who := range []catalog.Visibility{catalog.Hidden, catalog.Members} {
			in := f.Task.Task.Settings()
			in.Visibility = who
			f.Task.Task = modelstest.Got[catalog.Task](t)(s.Catalog.UpdateTask(t.Context(), f.Carl, f.Task.Task.ID, in))
			f.OnSubmission.Task = f.Task.Task
			// Bob and Ann lose access although they commented and submitted before
			for _, viewer := range []accounts.User{f.None, f.Bob, f.Ann} {
				for _, thread := range []comments.Thread{f.Task, f.OnSubmission} {
					_, err := s.Comments.List(t.Context(), viewer, thread, 0, 10)
					f.refused(err, db.NotFound, "There is no")
					_, err = s.Comments.Add(t.Context(), viewer, thread, "hello")
					f.refused(err, db.NotFound, "There is no")
					f.refused(s.Comments.LockThread(t.Context(), viewer, thread, true), db.NotFound, "There is no")
				}
				for _, id := range []int64{about.ID, on.ID} {
					_, _, err := s.Comments.Comment(t.Context(), viewer, id)
					f.refused(err, db.NotFound, "no comment")
					f.refused(s.Comments.Report(t.Context(), viewer, id, "why"), db.NotFound, "no comment")
					_, err = s.Comments.Hide(t.Context(), viewer, id, "why")
					f.refused(err, db.NotFound, "no comment")
				}
			}
			if list := f.texts(f.Carl, f.Task); len(list) != 1 {
				t.Errorf("the author reads %q", list)
			}
		}
	})
}

func TestAHiddenCommentIsReadByItsAuthorAndModerators(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		spam := f.Add(f.Bob, f.Task, "Buy pills")
		f.refused(s.Comments.Report(t.Context(), f.Bob, spam.ID, "mine"), db.Forbidden, "You can delete your own")
		modelstest.Check(t, s.Comments.Report(t.Context(), f.Ann, spam.ID, "an advertisement"))
		f.refused(s.Comments.Report(t.Context(), f.Ann, spam.ID, "again"), db.Conflict, "already")
		_, err := s.Comments.Hide(t.Context(), f.Ann, spam.ID, "I want to")
		f.refused(err, db.Forbidden, "Only the author of the task")
		_, err = s.Comments.Hide(t.Context(), f.Admin, spam.ID, "an advertisement")
		modelstest.Check(t, err)
		for who, sees := range map[*accounts.User]bool{&f.None: false, &f.Ann: false, &f.Bob: true, &f.Carl: true,
			&f.Admin: true} {
			if list := f.texts(*who, f.Task); (len(list) == 1) != sees {
				t.Errorf("%q reads %q", who.Name, list)
			}
			if _, _, err := s.Comments.Comment(t.Context(), *who, spam.ID); (err == nil) != sees {
				t.Errorf("%q finds it: %v", who.Name, err)
			}
		}
		if f.count(f.Task) != 0 || len(modelstest.Got[[]comments.ReportedComment](t)(s.Comments.ReportedComments(t.Context(), f.Carl,
			10))) != 0 {
			t.Error("it counts, or still waits for a decision")
		}
		_, err = s.Comments.Hide(t.Context(), f.Carl, spam.ID, "now it is mine to show")
		f.refused(err, db.Conflict, "hidden already")
		_, err = s.Comments.Unhide(t.Context(), f.Carl, spam.ID, "I like it")
		f.refused(err, db.Forbidden, "Only the person who hid")
		_, err = s.Comments.Unhide(t.Context(), f.Admin, spam.ID, "a mistake")
		modelstest.Check(t, err)
		_, err = s.Comments.Remove(t.Context(), f.Ann, spam.ID)
		f.refused(err, db.Forbidden, "Only the person who wrote")
		_, err = s.Comments.Remove(t.Context(), f.Bob, spam.ID)
		modelstest.Check(t, err)
		var body string
		modelstest.Check(t, s.SQL().QueryRowContext(t.Context(),
			fmt.Sprintf("select body from comments where id = %d", spam.ID)).Scan(&body))
		if body != "" || len(f.texts(f.Admin, f.Task)) != 0 {
			t.Errorf("a deleted comment is kept: %q", body)
		}
		acts := modelstest.Got[[]accounts.AuditEntry](t)(s.Accounts.AuditLog(t.Context(), f.Admin,
			fmt.Sprintf("comment %d", spam.ID), 0, 10))
		if len(acts) != 2 || acts[0].ActName != "show comment" || acts[1].ActName != "hide comment" ||
			acts[1].Detail != "an advertisement" {
			t.Errorf("the audit log has %+v", acts)
		}
	})
}

func TestAdminsDecideAboutCommentsOfATasksAuthor(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		own := f.Add(f.Carl, f.Task, "rude")
		modelstest.Check(t, s.Comments.Report(t.Context(), f.Ann, own.ID, "rude"))
		if n := len(modelstest.Got[[]comments.ReportedComment](t)(s.Comments.ReportedComments(t.Context(), f.Carl,
			10))) + len(modelstest.Got[[]comments.ReportWithReporter](t)(s.Comments.Reports(t.Context(), f.Carl,
			own.ID))); n != 0 {
			t.Error("the author reads who reported the author")
		}
		_, err := s.Comments.DismissReports(t.Context(), f.Carl, own.ID, "not rude")
		f.refused(err, db.Forbidden, "Only admins may moderate")
		if list := modelstest.Got[[]comments.ReportedComment](t)(s.Comments.ReportedComments(t.Context(), f.Admin,
			10)); len(list) != 1 {
			t.Errorf("admins find %+v", list)
		}
	})
}

func TestRemovedCommentsDoNotCrowdOutOthers(t *testing.T) {
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
			modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(),
				fmt.Sprintf(fill, columns, f.Bob.ID, values, numbers, f.Task.Task.ID))))
		}
		many(", removed_at", ", '2020-01-01'")
		f.Add(f.Ann, f.Task, "there is room")
		many("", "")
		_, err := s.Comments.Add(t.Context(), f.Ann, f.Task, "full")
		f.refused(err, db.Conflict, "the maximum")
		f.Add(f.Carl, f.Task, "its author still writes")
	})
}

func TestOneWritesSoMuchAnHourAndNotWhereItIsLocked(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		first := f.Add(f.Bob, f.Task, "0")
		_, err := s.Comments.Add(t.Context(), f.Bob, f.Task, "0")
		f.refused(err, db.Conflict, "already")
		_, err = s.Comments.Remove(t.Context(), f.Bob, first.ID) // removed comments still count toward the hourly limit
		modelstest.Check(t, err)
		for i := range 19 {
			f.Add(f.Bob, f.Task, fmt.Sprint(i+1))
		}
		_, err = s.Comments.Add(t.Context(), f.Bob, f.Task, "one too many")
		f.refused(err, db.TooMany, "At most 20 comments")
		for body, says := range map[string]string{"": "Write something", " \u200b\n": "Write something",
			strings.Repeat("ä", 4001): "4001 characters"} {
			_, err = s.Comments.Add(t.Context(), f.Ann, f.Task, body)
			f.refused(err, db.Invalid, says)
		}
		f.Add(f.Ann, f.Task, "hello")
		f.refused(s.Comments.LockThread(t.Context(), f.Ann, f.Task, true), db.Forbidden, "Only the author of the task")
		modelstest.Check(t, s.Comments.LockThread(t.Context(), f.Carl, f.Task, true))
		_, err = s.Comments.Add(t.Context(), f.Ann, f.Task, "still here")
		f.refused(err, db.Forbidden, "locked")
		f.Add(f.Carl, f.Task, "I lock this.")
		modelstest.Check(t, s.Comments.LockThread(t.Context(), f.Carl, f.Task, false))
		f.Add(f.Ann, f.Task, "still here")
	})
}

func TestAnOrganizerClosesCommentsDuringAnEvent(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		in := events.EventSettings{Title: "Cup", StartsAt: time.Now().Add(-time.Hour),
			EndsAt:         time.Now().Add(time.Hour),
			PointsRuleText: "1", Tasks: []string{f.Task.Task.Slug}}
		e := modelstest.Got[events.Event](t)(s.Events.Create(t.Context(), f.Carl, in))
		f.Add(f.Ann, f.Task, "open")
		in.CommentsClosed = true
		modelstest.Got[events.Event](t)(s.Events.Update(t.Context(), f.Carl, e.Slug, in))
		_, err := s.Comments.Add(t.Context(), f.Ann, f.Task, "closed")
		f.refused(err, db.Forbidden, "until the event Cup ends")
		f.Add(f.Carl, f.Task, "the organizer answers")
		in.EndsAt = time.Now().Add(-time.Minute)
		modelstest.Got[events.Event](t)(s.Events.Update(t.Context(), f.Carl, e.Slug, in))
		f.Add(f.Ann, f.Task, "open again")
	})
}
