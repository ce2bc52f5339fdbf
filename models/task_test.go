package models_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/tasks"
)

func TestATaskComesBackAsItWasMade(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		creator := modelstest.Person(t, s, "Cora", models.RoleCreator)
		deadline := time.Date(2030, 5, 1, 12, 0, 0, 123456789, time.FixedZone("CEST", 2*3600))
		bundle := modelstest.Bundle("prefix-sum")
		bundle.Files["empty.h"], bundle.Warnings = []byte{}, []string{"careful"}
		made, err := s.CreateTask(ctx, creator, models.NewTask{
			Slug: "Prefix Sum!", TaskSettings: models.TaskSettings{Devices: []string{"H200", "CPU"}, Deadline: &deadline},
			Origin: "builtin", Bundle: bundle,
		})
		check(t, err)
		got, err := s.Task(ctx, "prefix-sum")
		check(t, err)
		if diff := cmp.Diff(made, got); diff != "" {
			t.Errorf("task (-made +read):\n%s", diff)
		}
		if got.Deadline.Location() != time.UTC || !got.Deadline.Equal(deadline.Truncate(time.Microsecond)) || got.Title != "Prefix-sum" {
			t.Errorf("deadline %v, title %q", got.Deadline, got.Title)
		}
		stored, err := s.Bundle(ctx, made.VersionID)
		check(t, err)
		bundle.Name = "prefix-sum"
		if diff := cmp.Diff(bundle, stored); diff != "" {
			t.Errorf("bundle (-made +read):\n%s", diff)
		}
		_, err = s.CreateTask(ctx, creator, models.NewTask{TaskSettings: models.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
		wantKind(t, err, models.Conflict)
	})
}

func TestWhatCannotBeATaskIsRefused(t *testing.T) {
	s := modelstest.Open(t)
	creator := modelstest.Person(t, s, "Cora", models.RoleCreator)
	user := modelstest.Person(t, s, "Ann", models.RoleUser)
	bundle := modelstest.Bundle("x")
	for name, c := range map[string]struct {
		actor    models.User
		settings models.TaskSettings
		slug     string
		want     models.Kind
	}{
		"by a user":      {user, models.TaskSettings{Devices: []string{"CPU"}}, "", models.Forbidden},
		"by a visitor":   {models.User{}, models.TaskSettings{Devices: []string{"CPU"}}, "", models.Forbidden},
		"no devices":     {creator, models.TaskSettings{}, "", models.Invalid},
		"odd device":     {creator, models.TaskSettings{Devices: []string{"a b"}}, "", models.Invalid},
		"device twice":   {creator, models.TaskSettings{Devices: []string{"CPU", "CPU"}}, "", models.Invalid},
		"odd visibility": {creator, models.TaskSettings{Devices: []string{"CPU"}, Visibility: "secret"}, "", models.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.CreateTask(t.Context(), c.actor, models.NewTask{Slug: c.slug, TaskSettings: c.settings, Bundle: bundle})
			wantKind(t, err, c.want)
		})
	}
}

func TestANewVersionStartsNewBoardsAndLeavesTheOldOnes(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.score(t, s, w.ann, 100)
		texts := modelstest.Bundle("vectoradd")
		publish := func(b *tasks.Bundle, want models.Change, number int) models.TaskVersion {
			t.Helper()
			expected, err := s.Compare(ctx, w.task.ID, b)
			check(t, err)
			version, change, err := s.Publish(ctx, w.admin, w.task.ID, b, nil)
			check(t, err)
			if change != want || expected != want || version.Number != number {
				t.Errorf("published %s (announced %s) as version %d, want %s, %d", change, expected, version.Number, want, number)
			}
			return version
		}
		publish(texts, models.ChangeNone, 1)
		texts.Definition.Description = "Add two vectors, quickly."
		texts.Definition.Tags = []string{"beginner"}
		texts.Definition.Templates = map[string]string{"C++": "template.cpp"}
		texts.Files["template.cpp"] = []byte("// here\n")
		old := publish(texts, models.ChangeTexts, 1)
		if list := got[[]models.TaskSummary](t)(s.TaskList(ctx, w.ann)); len(list) != 1 || !slices.Equal(list[0].Tags, texts.Definition.Tags) {
			t.Errorf("the list of tasks does not have the new tags: %+v", list)
		}
		texts.Definition.Title = "Add two vectors"
		publish(texts, models.ChangeTexts, 1)
		if task := got[models.Task](t)(s.Task(ctx, "vectoradd")); task.Title != "Add two vectors" {
			t.Errorf("the bundle has a new title, and the task is still called %q", task.Title)
		}
		texts.Files["reference.h"] = []byte("// stricter\n")
		fresh := publish(texts, models.ChangeVersion, 2)

		if page := got[models.BoardPage](t)(s.Board(ctx, old.ID, "CPU", 0, 10)); len(page.Standings) != 1 {
			t.Errorf("the old board has %d entries", len(page.Standings))
		}
		if page := got[models.BoardPage](t)(s.Board(ctx, fresh.ID, "CPU", 0, 10)); len(page.Standings) != 0 {
			t.Errorf("the new board has %d entries", len(page.Standings))
		}
		if run := w.submit(t, s, w.ben); run.VersionID != fresh.ID {
			t.Errorf("a new submission went to version %d", run.VersionID)
		}
		if list, err := s.VersionNumbers(ctx, w.task.ID); err != nil || len(list) != 2 || list[0] != fresh.Number {
			t.Errorf("Versions: %v, %v", list, err)
		}
		if v, err := s.VersionNumber(ctx, w.task.ID, 1); err != nil || v.ID != old.ID || v.Definition.Description != "Add two vectors, quickly." {
			t.Errorf("VersionNumber: %v, %v", v, err)
		}
		_, _, err := s.Publish(ctx, w.ann, w.task.ID, texts, nil)
		wantKind(t, err, models.Forbidden)
	})
}

func TestDeletingATaskNeedsItsNameAndLeavesNothing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		other := modelstest.Task(t, s, w.admin, "other", "CPU")
		run := w.score(t, s, w.ann, 100)
		w.submit(t, s, w.ben)
		wantKind(t, s.DeleteTask(ctx, w.ann, w.task.ID, "Vectoradd"), models.Forbidden)
		wantKind(t, s.DeleteTask(ctx, w.admin, w.task.ID, "vector"), models.Invalid)
		check(t, s.DeleteTask(ctx, w.admin, w.task.ID, "Vectoradd"))
		_, err := s.Run(ctx, run.ID)
		wantKind(t, err, models.NotFound)
		for _, table := range strings.Fields("submissions runs attempts stages run_events entries boards records") {
			var n int
			check(t, s.SQL().QueryRowContext(ctx, "select count(*) from "+table).Scan(&n))
			if n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
		if _, err := s.Bundle(ctx, other.VersionID); err != nil {
			t.Errorf("the other task lost files that it shared: %v", err)
		}
	})
}

func TestTasksAreListedForWhoMaySeeThem(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		cora := modelstest.Person(t, s, "Cora", models.RoleCreator)
		admin := modelstest.Person(t, s, "Root", models.RoleAdmin)
		past := time.Now().Add(-time.Hour)
		for name, settings := range map[string]models.TaskSettings{
			"open": {}, "over": {Deadline: &past}, "draft": {Visibility: models.Hidden},
		} {
			settings.Devices = []string{"CPU", "T4"}
			_, err := s.CreateTask(ctx, cora, models.NewTask{TaskSettings: settings, Bundle: modelstest.Bundle(name)})
			check(t, err)
		}
		for _, c := range []struct {
			viewer models.User
			want   int
		}{{models.User{}, 2}, {cora, 3}, {admin, 3}} {
			list, err := s.TaskSummaries(ctx, c.viewer)
			check(t, err)
			if len(list) != c.want || list[len(list)-1].Slug != "over" {
				t.Errorf("%q sees %d tasks, want %d, the closed one last", c.viewer.Name, len(list), c.want)
			}
			if list[0].Lang != tasks.LangCPP || len(list[0].Boards) != 2 || list[0].Boards[1].Device != "T4" {
				t.Errorf("summary: %+v", list[0])
			}
		}
		draft, err := s.Task(ctx, "draft")
		check(t, err)
		if draft.VisibleTo(models.User{}) || !draft.VisibleTo(cora) || draft.EditableBy(models.User{ID: cora.ID, Role: models.RoleUser}) {
			t.Error("a draft is seen or changed by the wrong people")
		}
		updated, err := s.UpdateTask(ctx, cora, draft.ID, models.TaskSettings{Title: "Now open", Devices: []string{"CPU"}})
		if err != nil || updated.Title != "Now open" || !updated.VisibleTo(models.User{}) {
			t.Errorf("UpdateTask: %+v, %v", updated, err)
		}
	})
}

func TestSourceIsSeenByItsAuthorAndAdminsAndAfterTheDeadlineByAll(t *testing.T) {
	deadline := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	before, after := deadline.Add(-time.Nanosecond), deadline
	author, other := models.User{ID: 1, Role: models.RoleUser}, models.User{ID: 2, Role: models.RoleCreator}
	admin := models.User{ID: 3, Role: models.RoleAdmin}
	sub := models.Submission{UserID: 1, Mode: job.ModeRanked}
	public := models.Task{OwnerID: 2, Visibility: models.Public, Deadline: &deadline}
	endless, hidden := public, public
	endless.Deadline, hidden.Visibility = nil, models.Hidden
	for _, c := range []struct {
		name   string
		viewer models.User
		task   models.Task
		at     time.Time
		want   bool
	}{
		{"author before", author, public, before, true},
		{"admin before", admin, public, before, true},
		{"owner of the task before", other, public, before, false},
		{"visitor before", models.User{}, public, before, false},
		{"visitor at the deadline", models.User{}, public, after, true},
		{"visitor, no deadline", models.User{}, endless, after, false},
		{"visitor after, hidden task", models.User{}, hidden, after, false},
		{"visitor, submission of nobody", models.User{}, endless, before, false},
	} {
		if got := submissions.MaySeeSource(c.viewer, sub, c.task, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if submissions.MaySeeSource(models.User{}, models.Submission{}, public, before) {
		t.Error("a visitor passes for the author of a submission without one")
	}
}
