package models_test

import (
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/events"
	"warpboard/models/modelstest"
)

// opening creates a test site with a hidden task in an event that starts in an hour.
func opening(t *testing.T, s *models.Store) (world, events.EventSettings) {
	t.Helper()
	w := newWorld(t, s)
	w.Score(t, s, w.Ben, 2e6)
	w.Score(t, s, w.Ann, 1e6)
	hide(t, s, w, catalog.Hidden)
	now := time.Now()
	in := events.EventSettings{Title: "Cup", StartsAt: now.Add(time.Hour), EndsAt: now.Add(2 * time.Hour),
		PointsRuleText: "5/3/1",
		Tasks:          []string{w.Task.Slug}}
	modelstest.Check(t, modelstest.Second(s.Events.Create(t.Context(), w.Admin, in)))
	return w, in
}

func hide(t *testing.T, s *models.Store, w world, sight catalog.Visibility) {
	t.Helper()
	in := stored(t, s, w).Settings()
	in.Visibility = sight
	modelstest.Check(t, modelstest.Second(s.Catalog.UpdateTask(t.Context(), w.Admin, w.Task.ID, in)))
}

func stored(t *testing.T, s *models.Store, w world) catalog.Task {
	t.Helper()
	return modelstest.Got[catalog.Task](t)(s.Catalog.TaskByID(t.Context(), w.Task.ID))
}

// begins moves the event's start to a moment ago.
func begins(t *testing.T, s *models.Store) {
	t.Helper()
	past := time.Now().Add(-time.Second).UTC().Format("2006-01-02 15:04:05+00:00")
	for _, change := range []string{"update events set starts_at = $1",
		"update tasks set opens_at = $1 where opens_at is not null"} {
		modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(), change, past)))
	}
}

// seenBy reports whether a visitor sees the task, and checks that all ways of reading agree.
func seenBy(t *testing.T, s *models.Store, w world) bool {
	t.Helper()
	visitor := accounts.User{}
	sees := stored(t, s, w).VisibleTo(visitor)
	listed := len(modelstest.Got[[]catalog.Task](t)(s.Catalog.Tasks(t.Context(), visitor))) == 1
	total := modelstest.Got[[]boards.DeviceFamilyTotal](t)(s.Boards.TotalsOf(t.Context(), w.Ann.ID))
	if listed != sees || (len(total) > 0) != sees {
		t.Errorf("seen %v, listed %v, with points %+v", sees, listed, total)
	}
	return sees
}

// TestAHiddenTaskOpensAtTheStartOfItsEvent checks that the task becomes visible only because time passes, also in lists
// and for points.
func TestAHiddenTaskOpensAtTheStartOfItsEvent(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, in := opening(t, s)
		if seenBy(t, s, w) {
			t.Error("it is seen before the start")
		}
		begins(t, s)
		if !seenBy(t, s, w) {
			t.Error("it is not seen after the start")
		}
		// Updating the event saves the deadline of its task.
		in.StartsAt, in.EndsAt = time.Now().Add(-time.Minute), in.EndsAt.Add(time.Hour)
		modelstest.Check(t, modelstest.Second(s.Events.Update(t.Context(), w.Admin, "cup", in)))
		if !seenBy(t, s, w) || stored(t, s, w).Visibility != catalog.Public {
			t.Errorf("after a change it is %+v", stored(t, s, w))
		}
		hide(t, s, w, catalog.Hidden)
		modelstest.Check(t, modelstest.Second(s.Events.Update(t.Context(), w.Admin, "cup", in)))
		if seenBy(t, s, w) {
			t.Error("its author cannot hide it again")
		}
	})
}

// TestATaskOpensOnlyWithItsEvent checks that a hidden task stays hidden if it was removed from the event, or if the
// event was deleted or postponed, and that tasks with another visibility keep it.
func TestATaskOpensOnlyWithItsEvent(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, in := opening(t, s)
		other := modelstest.Task(t, s, w.Admin, "other", "CPU")
		off := in
		off.Tasks = []string{other.Slug}
		modelstest.Check(t, modelstest.Second(s.Events.Update(t.Context(), w.Admin, "cup", off)))
		if at := stored(t, s, w).OpensAt; at != nil {
			t.Errorf("taken out of the event it opens at %v", at)
		}
		modelstest.Check(t, modelstest.Second(s.Events.Update(t.Context(), w.Admin, "cup", in)))
		in.StartsAt = in.StartsAt.Add(10 * time.Minute)
		modelstest.Check(t, modelstest.Second(s.Events.Update(t.Context(), w.Admin, "cup", in)))
		if at := stored(t, s, w).OpensAt; at == nil || at.Sub(in.StartsAt).Abs() > time.Millisecond {
			t.Errorf("put off it opens at %v, not %v", at, in.StartsAt)
		}
		modelstest.Check(t, s.Events.Delete(t.Context(), w.Admin, "cup", "cup"))
		if task := stored(t, s, w); task.OpensAt != nil || task.Visibility != catalog.Hidden || task.Deadline == nil {
			t.Errorf("without its event it is %+v", task)
		}
		hide(t, s, w, catalog.Members)
		modelstest.Check(t, modelstest.Second(s.Events.Create(t.Context(), w.Admin, in)))
		begins(t, s)
		if task := stored(t, s, w); task.OpensAt != nil || task.VisibleTo(accounts.User{}) {
			t.Errorf("a members' board became %+v", task)
		}
	})
}
