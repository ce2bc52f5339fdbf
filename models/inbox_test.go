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
	"warpboard/models/events"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// spread turns what happened into notices, as the deliverer does each second.
func (f *forum) spread() {
	f.t.Helper()
	for {
		n, err := f.Webhooks.SpreadEvents(f.t.Context())
		modelstest.Check(f.t, err)
		if n == 0 {
			return
		}
	}
}

// inbox is what a person reads there, the newest first, and how many of it are unread.
func (f *forum) inbox(who accounts.User) (texts []string, unread int) {
	f.t.Helper()
	f.spread()
	now := modelstest.Got[accounts.User](f.t)(f.Accounts.User(f.t.Context(), who.ID))
	for _, n := range modelstest.Got[[]inbox.Told](f.t)(f.Inbox.List(f.t.Context(), now, 0, 100)) {
		texts = append(texts, n.Text()+" "+n.Path())
	}
	return texts, now.Unread
}

func (f *forum) told(who accounts.User, want ...string) {
	f.t.Helper()
	if texts, unread := f.inbox(who); !slices.Equal(texts, want) || unread != len(want) {
		f.t.Errorf("%s reads %q, %d unread; want %q", who.Name, texts, unread, want)
	}
	modelstest.Check(f.t, f.Inbox.MarkAllRead(f.t.Context(), who, time.Now()))
	modelstest.Check(f.t, f.sql("delete from notices where user_id = %d", who.ID))
}

func (f *forum) sql(query string, args ...any) error {
	_, err := f.SQL().ExecContext(f.t.Context(), fmt.Sprintf(query, args...))
	return err
}

func (f *forum) scores(who accounts.User, ns float64) work.Run {
	f.t.Helper()
	run := modelstest.Submit(f.t, f.Store, who, f.task.Task)[0]
	modelstest.Finish(f.t, f.Store, run, ns)
	return run
}

func TestPeopleAreToldOfLostRecordsAndPlaces(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		dora := modelstest.Person(t, s, "Dora", accounts.RoleUser)
		for i, who := range []accounts.User{f.ann, f.bob, f.carl} {
			f.scores(who, float64(2000+1000*i))
		}
		for _, who := range []accounts.User{f.ann, f.bob, f.carl, dora} {
			f.told(who)
		}
		f.scores(dora, 2500)
		f.told(f.ann)
		f.told(f.bob, "Dora passed you: Sort on CPU. /tasks/sort/boards/CPU")
		f.told(f.carl, "Dora passed you: Sort on CPU. /tasks/sort/boards/CPU")
		f.scores(dora, 1000)
		f.told(f.ann, "Dora took your record: Sort on CPU. /tasks/sort/boards/CPU")
		f.told(f.bob)          // Dora was before Bob already
		f.scores(f.carl, 1001) // which cannot be told apart from Dora's
		f.told(dora)
		f.told(f.ann, "Carl passed you: Sort on CPU. /tasks/sort/boards/CPU")
		f.scores(f.carl, 1000.5)
		f.told(f.ann)
	})
}

func TestNoOneLearnsOfPlacesWhileAnEventIsFrozen(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.ann, 2000)
		late := modelstest.Submit(t, s, f.bob, f.task.Task)[0] // before the freeze; it ends in it
		f.told(f.ann)
		freeze := time.Now().Add(-time.Minute)
		modelstest.Got[events.Event](t)(s.Events.Create(t.Context(), f.carl, events.Settings{Title: "Cup", StartsAt: time.Now().Add(-time.Hour), EndsAt: time.Now().Add(time.Hour),
			FrozenAt: &freeze, Points: "1", Tasks: []string{f.task.Task.Slug}}))
		modelstest.Check(t, f.sql("update tasks set reminded_of = deadline"))
		modelstest.Finish(t, s, late, 1000)
		f.scores(f.bob, 500)
		f.told(f.ann)
	})
}

func TestTheEndOfALongRunIsTold(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.ann, 2000) // in a moment
		f.told(f.ann)
		run := modelstest.Submit(t, s, f.ann, f.task.Task)[0]
		_, err := s.SQL().ExecContext(t.Context(), "update runs set queued_at = $1 where id = $2", time.Now().Add(-time.Hour).UTC(), run.ID)
		modelstest.Check(t, err)
		modelstest.Finish(t, s, run, 3000)
		f.told(f.ann, fmt.Sprintf("Your run of Sort on CPU has ended: passed. /submissions/%d", run.SubmissionID))
	})
}

func TestACommentIsToldOnceUntilItIsRead(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		first := f.add(f.ann, f.task, "one")
		for i := range 5 {
			f.add(f.bob, f.task, fmt.Sprint("spam ", i))
		}
		text := fmt.Sprintf("Ann commented on Sort. /tasks/sort/comments?after=%d#comment-%d", first.ID-1, first.ID)
		f.told(f.carl, text)
		f.told(f.ann, fmt.Sprintf("Bob commented on Sort. /tasks/sort/comments?after=%d#comment-%d", first.ID, first.ID+1))
		f.told(f.bob)
		f.closeTask()
		f.add(f.bob, f.onSubmission, "nice")
		if texts, _ := f.inbox(f.ann); len(texts) != 1 || !strings.HasPrefix(texts[0], fmt.Sprintf("Bob commented on submission %d to Sort.", f.onSubmission.Submission.ID)) {
			t.Errorf("the author of the submission reads %q", texts)
		}
		list := modelstest.Got[[]comments.Listed](t)(s.Comments.List(t.Context(), f.ann, f.onSubmission, 0, 1))
		_, err := s.Comments.Hide(t.Context(), f.carl, list[0].ID, "spam")
		modelstest.Check(t, err)
		if texts, _ := f.inbox(f.ann); len(texts) != 0 {
			t.Errorf("a hidden comment is still told: %q", texts)
		}
		if user := modelstest.Got[accounts.User](t)(s.Accounts.User(t.Context(), f.ann.ID)); user.Unread != 0 {
			t.Errorf("a hidden comment counts as %d unread notices", user.Unread)
		}
	})
}

func TestNoticesSayNothingOfATaskThatOneMayNotSee(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.ann, 2000)
		f.add(f.ann, f.task, "hello")
		f.told(f.ann)
		f.add(f.bob, f.task, "before")
		if texts, unread := f.inbox(f.ann); len(texts) != 1 || unread != 1 {
			t.Fatalf("Ann reads %q, %d unread", texts, unread)
		}
		for _, who := range []catalog.Visibility{catalog.Hidden, catalog.Members} {
			in := f.task.Task.Settings()
			in.Visibility = who
			f.task.Task = modelstest.Got[catalog.Task](t)(s.Catalog.UpdateTask(t.Context(), f.carl, f.task.Task.ID, in))
			f.add(f.carl, f.task, "a secret "+string(who))
			f.scores(f.carl, map[catalog.Visibility]float64{catalog.Hidden: 1000, catalog.Members: 500}[who])
			if texts, unread := f.inbox(f.ann); len(texts) != 0 || unread != 1 {
				t.Errorf("%s: Ann reads %q, %d unread", who, texts, unread)
			}
		}
		modelstest.Check(t, s.Inbox.MarkRead(t.Context(), f.ann, 1<<60)) // which would keep what comes from being counted
		if _, unread := f.inbox(f.ann); unread != 1 {
			t.Error("a number that does not exist yet marks notices as read")
		}
	})
}

func TestADeadlineIsToldOnceToWhoSubmitted(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		f.scores(f.bob, 1000)
		for _, who := range []accounts.User{f.ann, f.bob} {
			f.told(who)
		}
		soon, far := time.Now().Add(23*time.Hour), time.Now().Add(25*time.Hour)
		f.closeAt(&far)
		modelstest.Check(t, s.Remind(t.Context()))
		f.told(f.ann)
		f.closeAt(&soon)
		for range 2 {
			modelstest.Check(t, s.Remind(t.Context()))
		}
		f.told(f.ann, "Sort closes within 24 hours. /tasks/sort")
		f.told(f.bob, "Sort closes within 24 hours. /tasks/sort")
		f.told(f.carl)
		modelstest.Check(t, s.Remind(t.Context()))
		f.told(f.ann)
		sooner := time.Now().Add(time.Hour)
		f.closeAt(&sooner)
		modelstest.Check(t, s.Remind(t.Context()))
		f.told(f.ann, "Sort closes within 24 hours. /tasks/sort")
	})
}

func TestAKindCanBeTurnedOffAndOldNoticesGo(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		f := newForum(t, s)
		modelstest.Check(t, s.Inbox.Choose(t.Context(), f.carl, []inbox.Kind{inbox.RunEnded, "nonsense"}, nil))
		f.add(f.ann, f.task, "one")
		f.told(f.carl)
		modelstest.Check(t, s.Inbox.Choose(t.Context(), f.carl, inbox.Kinds(), nil))
		f.add(f.ann, f.task, "two")
		if _, unread := f.inbox(f.carl); unread != 1 {
			t.Error("the kind stays off")
		}
		modelstest.Check(t, f.sql("insert into notices (user_id, kind, task_id, created_at) select %d, 'run.ended', %d, current_timestamp from users, users a, users b, users c", f.carl.ID, f.task.Task.ID))
		modelstest.Check(t, s.Sweep(t.Context(), time.Now()))
		if texts, unread := f.inbox(f.carl); len(texts) != 100 || unread != 200 {
			t.Errorf("%d of %d notices are kept", len(texts), unread)
		}
		modelstest.Check(t, s.Sweep(t.Context(), time.Now().Add(91*24*time.Hour)))
		if texts, unread := f.inbox(f.carl); len(texts)+unread != 0 {
			t.Errorf("%d old notices are kept", unread)
		}
	})
}
