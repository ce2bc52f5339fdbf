package inbox_test

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
	"warpboard/models/events"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

type forum struct{ *modelstest.Forum }

func newForum(t *testing.T, s *models.Store) forum { return forum{modelstest.NewForum(t, s)} }

// spread creates notices and deliveries from all waiting events, as the site does each second.
func (f forum) spread() {
	f.T.Helper()
	for {
		n, err := f.Webhooks.CreateDeliveries(f.T.Context())
		modelstest.Check(f.T, err)
		if n == 0 {
			return
		}
	}
}

// inbox returns a person's notices, the newest first, and the number of unread ones.
func (f forum) inbox(who accounts.User) (texts []string, unread int) {
	f.T.Helper()
	f.spread()
	now := modelstest.Got[accounts.User](f.T)(f.Accounts.User(f.T.Context(), who.ID))
	for _, n := range modelstest.Got[[]inbox.NamedNotice](f.T)(f.Inbox.List(f.T.Context(), now, 0, 100)) {
		texts = append(texts, n.Text()+" "+n.Path())
	}
	return texts, now.UnreadNotices
}

func (f forum) wantNotices(who accounts.User, want ...string) {
	f.T.Helper()
	if texts, unread := f.inbox(who); !slices.Equal(texts, want) || unread != len(want) {
		f.T.Errorf("%s reads %q, %d unread; want %q", who.Name, texts, unread, want)
	}
	modelstest.Check(f.T, f.Inbox.MarkAllRead(f.T.Context(), who, time.Now()))
	modelstest.Check(f.T, f.sql("delete from notices where user_id = %d", who.ID))
}

func (f forum) sql(query string, args ...any) error {
	_, err := f.SQL().ExecContext(f.T.Context(), fmt.Sprintf(query, args...))
	return err
}

func (f forum) scores(who accounts.User, ns float64) work.Run {
	f.T.Helper()
	run := modelstest.Submit(f.T, f.Store, who, f.Task.Task)[0]
	modelstest.Finish(f.T, f.Store, run, ns)
	return run
}

func TestLostRecordsAndPlacesGiveNotices(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		dora := modelstest.Person(t, s, "Dora", accounts.RoleUser)
		for i, who := range []accounts.User{f.Ann, f.Bob, f.Carl} {
			f.scores(who, float64(2000+1000*i))
		}
		for _, who := range []accounts.User{f.Ann, f.Bob, f.Carl, dora} {
			f.wantNotices(who)
		}
		f.scores(dora, 2500)
		f.wantNotices(f.Ann)
		f.wantNotices(f.Bob, "Dora passed you: Sort on CPU. /tasks/sort/boards/CPU")
		f.wantNotices(f.Carl, "Dora passed you: Sort on CPU. /tasks/sort/boards/CPU")
		f.scores(dora, 1000)
		f.wantNotices(f.Ann, "Dora took your record: Sort on CPU. /tasks/sort/boards/CPU")
		f.wantNotices(f.Bob)   // Dora was ahead of Bob before this score, too
		f.scores(f.Carl, 1001) // ties with Dora's score
		f.wantNotices(dora)
		f.wantNotices(f.Ann, "Carl passed you: Sort on CPU. /tasks/sort/boards/CPU")
		f.scores(f.Carl, 1000.5)
		f.wantNotices(f.Ann)
	})
}

func TestNoOneLearnsOfPlacesWhileAnEventIsFrozen(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.Ann, 2000)
		late := modelstest.Submit(t, s, f.Bob, f.Task.Task)[0] // submitted before the freeze, ends during it
		f.wantNotices(f.Ann)
		freeze := time.Now().Add(-time.Minute)
		modelstest.Got[events.Event](t)(s.Events.Create(t.Context(), f.Carl,
			events.EventSettings{Title: "Cup", StartsAt: time.Now().Add(-time.Hour), EndsAt: time.Now().Add(time.Hour),
				FrozenAt: &freeze, PointsRuleText: "1", Tasks: []string{f.Task.Task.Slug}}))
		modelstest.Check(t, f.sql("update tasks set reminded_of = deadline"))
		modelstest.Finish(t, s, late, 1000)
		f.scores(f.Bob, 500)
		f.wantNotices(f.Ann)
	})
}

func TestTheEndOfALongRunGivesANotice(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.Ann, 2000) // a short run, which gives no notice
		f.wantNotices(f.Ann)
		run := modelstest.Submit(t, s, f.Ann, f.Task.Task)[0]
		_, err := s.SQL().ExecContext(t.Context(), "update runs set queued_at = $1 where id = $2",
			time.Now().Add(-time.Hour).UTC(), run.ID)
		modelstest.Check(t, err)
		modelstest.Finish(t, s, run, 3000)
		f.wantNotices(f.Ann, fmt.Sprintf("Your run of Sort on CPU has ended: passed. /submissions/%d", run.SubmissionID))
	})
}

func TestATrialPutsNothingIntoTheInbox(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		run := modelstest.Submit(t, s, f.Ann, f.Task.Task)[0]
		modelstest.Check(t, f.sql("update submissions set via = 'trial' where id = %d", run.SubmissionID))
		_, err := s.SQL().ExecContext(t.Context(), "update runs set queued_at = $1 where id = $2",
			time.Now().Add(-time.Hour).UTC(), run.ID)
		modelstest.Check(t, err)
		modelstest.Finish(t, s, run, 3000)
		f.wantNotices(f.Ann)
	})
}

func TestACommentGivesOneNoticeUntilItIsRead(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		first := f.Add(f.Ann, f.Task, "one")
		for i := range 5 {
			f.Add(f.Bob, f.Task, fmt.Sprint("spam ", i))
		}
		text := fmt.Sprintf("Ann commented on Sort. /tasks/sort/comments?after=%d#comment-%d", first.ID-1, first.ID)
		f.wantNotices(f.Carl, text)
		f.wantNotices(f.Ann, fmt.Sprintf("Bob commented on Sort. /tasks/sort/comments?after=%d#comment-%d", first.ID,
			first.ID+1))
		f.wantNotices(f.Bob)
		f.CloseTask()
		f.Add(f.Bob, f.OnSubmission, "nice")
		if texts, _ := f.inbox(f.Ann); len(texts) != 1 ||
			!strings.HasPrefix(texts[0], fmt.Sprintf("Bob commented on submission %d to Sort.",
				f.OnSubmission.Submission.ID)) {
			t.Errorf("the author of the submission reads %q", texts)
		}
		list := modelstest.Got[[]comments.CommentRow](t)(s.Comments.List(t.Context(), f.Ann, f.OnSubmission, 0, 1))
		_, err := s.Comments.Hide(t.Context(), f.Carl, list[0].ID, "spam")
		modelstest.Check(t, err)
		if texts, _ := f.inbox(f.Ann); len(texts) != 0 {
			t.Errorf("a hidden comment is still told: %q", texts)
		}
		if user := modelstest.Got[accounts.User](t)(s.Accounts.User(t.Context(), f.Ann.ID)); user.UnreadNotices != 0 {
			t.Errorf("a hidden comment counts as %d unread notices", user.UnreadNotices)
		}
	})
}

func TestNoticesOmitHiddenTasks(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.Ann, 2000)
		f.Add(f.Ann, f.Task, "hello")
		f.wantNotices(f.Ann)
		f.Add(f.Bob, f.Task, "before")
		if texts, unread := f.inbox(f.Ann); len(texts) != 1 || unread != 1 {
			t.Fatalf("Ann reads %q, %d unread", texts, unread)
		}
		for _, who := range []catalog.Visibility{catalog.Hidden, catalog.Members} {
			in := f.Task.Task.Settings()
			in.Visibility = who
			f.Task.Task = modelstest.Got[catalog.Task](t)(s.Catalog.UpdateTask(t.Context(), f.Carl, f.Task.Task.ID, in))
			f.Add(f.Carl, f.Task, "a secret "+string(who))
			f.scores(f.Carl, map[catalog.Visibility]float64{catalog.Hidden: 1000, catalog.Members: 500}[who])
			if texts, unread := f.inbox(f.Ann); len(texts) != 0 || unread != 1 {
				t.Errorf("%s: Ann reads %q, %d unread", who, texts, unread)
			}
		}
		// An ID above all existing ones must not mark future notices as read.
		modelstest.Check(t, s.Inbox.MarkRead(t.Context(), f.Ann, 1<<60))
		if _, unread := f.inbox(f.Ann); unread != 1 {
			t.Error("a number that does not exist yet marks notices as read")
		}
	})
}

func TestADeadlineRemindsEachSubmitterOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.Bob, 1000)
		for _, who := range []accounts.User{f.Ann, f.Bob} {
			f.wantNotices(who)
		}
		soon, far := time.Now().Add(23*time.Hour), time.Now().Add(25*time.Hour)
		f.CloseAt(&far)
		modelstest.Check(t, s.AddDeadlineNotices(t.Context()))
		f.wantNotices(f.Ann)
		f.CloseAt(&soon)
		for range 2 {
			modelstest.Check(t, s.AddDeadlineNotices(t.Context()))
		}
		f.wantNotices(f.Ann, "Sort closes within 24 hours. /tasks/sort")
		f.wantNotices(f.Bob, "Sort closes within 24 hours. /tasks/sort")
		f.wantNotices(f.Carl)
		modelstest.Check(t, s.AddDeadlineNotices(t.Context()))
		f.wantNotices(f.Ann)
		sooner := time.Now().Add(time.Hour)
		f.CloseAt(&sooner)
		modelstest.Check(t, s.AddDeadlineNotices(t.Context()))
		f.wantNotices(f.Ann, "Sort closes within 24 hours. /tasks/sort")
	})
}

func TestAKindCanBeTurnedOffAndOldNoticesGo(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		modelstest.Check(t, s.Inbox.SetChoices(t.Context(), f.Carl, []inbox.NoticeKind{inbox.RunEnded, "nonsense"},
			nil))
		f.Add(f.Ann, f.Task, "one")
		f.wantNotices(f.Carl)
		modelstest.Check(t, s.Inbox.SetChoices(t.Context(), f.Carl, inbox.AllNoticeKinds(), nil))
		f.Add(f.Ann, f.Task, "two")
		if _, unread := f.inbox(f.Carl); unread != 1 {
			t.Error("the kind stays off")
		}
		modelstest.Check(t,
			f.sql("insert into notices (user_id, kind, task_id, created_at) select %d, 'run.ended', %d, current_timestamp from users, users a, users b, users c", f.Carl.ID, f.Task.Task.ID))
		modelstest.Check(t, s.DeleteExpired(t.Context(), time.Now()))
		if texts, unread := f.inbox(f.Carl); len(texts) != 100 || unread != 200 {
			t.Errorf("%d of %d notices are kept", len(texts), unread)
		}
		modelstest.Check(t, s.DeleteExpired(t.Context(), time.Now().Add(91*24*time.Hour)))
		if texts, unread := f.inbox(f.Carl); len(texts)+unread != 0 {
			t.Errorf("%d old notices are kept", unread)
		}
	})
}
