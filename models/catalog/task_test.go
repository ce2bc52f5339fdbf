package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/tasks"
)

func TestATaskComesBackAsItWasMade(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		creator := modelstest.Person(t, s, "Cora", accounts.RoleCreator)
		deadline := time.Date(2030, 5, 1, 12, 0, 0, 123456789, time.FixedZone("CEST", 2*3600))
		bundle := modelstest.Bundle("prefix-sum")
		bundle.Files["empty.h"], bundle.Warnings = []byte{}, []string{"careful"}
		made, err := s.Catalog.CreateTask(ctx, creator, catalog.NewTask{
			Slug: "Prefix Sum!", TaskSettings: catalog.TaskSettings{Devices: []string{"H200", "CPU"},
				Deadline: &deadline},
			Origin: "builtin", Bundle: bundle,
		})
		modelstest.Check(t, err)
		got, err := s.Catalog.Task(ctx, "prefix-sum")
		modelstest.Check(t, err)
		if diff := cmp.Diff(made, got); diff != "" {
			t.Errorf("task (-made +read):\n%s", diff)
		}
		if got.Deadline.Location() != time.UTC || !got.Deadline.Equal(deadline.Truncate(time.Microsecond)) ||
			got.Title != "Prefix-sum" {
			t.Errorf("deadline %v, title %q", got.Deadline, got.Title)
		}
		stored, err := s.Catalog.Bundle(ctx, made.VersionID)
		modelstest.Check(t, err)
		bundle.Name = "prefix-sum"
		if diff := cmp.Diff(bundle, stored); diff != "" {
			t.Errorf("bundle (-made +read):\n%s", diff)
		}
		_, err = s.Catalog.CreateTask(ctx, creator,
			catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
		modelstest.WantKind(t, err, db.Conflict)
	})
}

func TestInvalidTasksAreRefused(t *testing.T) {
	s := modelstest.Open(t)
	creator := modelstest.Person(t, s, "Cora", accounts.RoleCreator)
	user := modelstest.Person(t, s, "Ann", accounts.RoleUser)
	bundle := modelstest.Bundle("x")
	for name, c := range map[string]struct {
		actor    accounts.User
		settings catalog.TaskSettings
		slug     string
		want     db.ErrorKind
	}{
		"by a user":    {user, catalog.TaskSettings{Devices: []string{"CPU"}}, "", db.Forbidden},
		"by a visitor": {accounts.User{}, catalog.TaskSettings{Devices: []string{"CPU"}}, "", db.Forbidden},
		"no devices":   {creator, catalog.TaskSettings{}, "", db.Invalid},
		"odd device":   {creator, catalog.TaskSettings{Devices: []string{"a b"}}, "", db.Invalid},
		"device twice": {creator, catalog.TaskSettings{Devices: []string{"CPU", "CPU"}}, "", db.Invalid},
		"odd visibility": {creator, catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: "secret"}, "",
			db.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Catalog.CreateTask(t.Context(), c.actor,
				catalog.NewTask{Slug: c.slug, TaskSettings: c.settings, Bundle: bundle})
			modelstest.WantKind(t, err, c.want)
		})
	}
}

func TestANewVersionStartsNewBoardsAndLeavesTheOldOnes(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		w.Score(t, s, w.Ann, 100)
		texts := modelstest.Bundle("vectoradd")
		publish := func(b *tasks.Bundle, want catalog.ChangeKind, number int) catalog.TaskVersion {
			t.Helper()
			expected, err := s.Catalog.PublishEffect(ctx, w.Task.ID, b)
			modelstest.Check(t, err)
			version, change, err := s.Catalog.Publish(ctx, w.Admin, w.Task.ID, b, nil)
			modelstest.Check(t, err)
			if change != want || expected != want || version.Number != number {
				t.Errorf("published %s (announced %s) as version %d, want %s, %d", change, expected, version.Number,
					want, number)
			}
			return version
		}
		publish(texts, catalog.ChangeNone, 1)
		texts.Definition.Description = "Add two vectors, quickly."
		texts.Definition.Tags = []string{"beginner"}
		texts.Definition.Templates = map[string]string{"C++": "template.cpp"}
		texts.Files["template.cpp"] = []byte("// here\n")
		old := publish(texts, catalog.ChangeTexts, 1)
		if list := modelstest.Got[[]models.TaskSummary](t)(s.TaskList(ctx, w.Ann)); len(list) != 1 ||
			!slices.Equal(list[0].Tags, texts.Definition.Tags) {
			t.Errorf("the list of tasks does not have the new tags: %+v", list)
		}
		texts.Definition.Title = "Add two vectors"
		publish(texts, catalog.ChangeTexts, 1)
		if task := modelstest.Got[catalog.Task](t)(s.Catalog.Task(ctx, "vectoradd")); task.Title != "Add two vectors" {
			t.Errorf("the bundle has a new title, and the task is still called %q", task.Title)
		}
		texts.Files["reference.h"] = []byte("// stricter\n")
		fresh := publish(texts, catalog.ChangeVersion, 2)

		if page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, old.ID, "CPU",
			boards.BoardPartQuery{Limit: 10})); len(page.Standings) != 1 {
			t.Errorf("the old board has %d entries", len(page.Standings))
		}
		if page := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, fresh.ID, "CPU",
			boards.BoardPartQuery{Limit: 10})); len(page.Standings) != 0 {
			t.Errorf("the new board has %d entries", len(page.Standings))
		}
		if run := w.Submit(t, s, w.Ben); run.VersionID != fresh.ID {
			t.Errorf("a new submission went to version %d", run.VersionID)
		}
		if list, err := s.Catalog.VersionNumbers(ctx, w.Task.ID); err != nil || len(list) != 2 ||
			list[0] != fresh.Number {
			t.Errorf("Versions: %v, %v", list, err)
		}
		if v, err := s.Catalog.VersionNumber(ctx, w.Task.ID, 1); err != nil || v.ID != old.ID ||
			v.Definition.Description != "Add two vectors, quickly." {
			t.Errorf("VersionNumber: %v, %v", v, err)
		}
		_, _, err := s.Catalog.Publish(ctx, w.Ann, w.Task.ID, texts, nil)
		modelstest.WantKind(t, err, db.Forbidden)
	})
}

func TestDeletingATaskNeedsItsNameAndLeavesNothing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		other := modelstest.Task(t, s, w.Admin, "other", "CPU")
		run := w.Score(t, s, w.Ann, 100)
		w.Submit(t, s, w.Ben)
		modelstest.WantKind(t, s.Catalog.DeleteTask(ctx, w.Ann, w.Task.ID, "Vectoradd"), db.Forbidden)
		modelstest.WantKind(t, s.Catalog.DeleteTask(ctx, w.Admin, w.Task.ID, "vector"), db.Invalid)
		modelstest.Check(t, s.Catalog.DeleteTask(ctx, w.Admin, w.Task.ID, "Vectoradd"))
		_, err := s.Work.Run(ctx, run.ID)
		modelstest.WantKind(t, err, db.NotFound)
		for _, table := range strings.Fields("submissions runs attempts stages run_events entries boards records") {
			var n int
			modelstest.Check(t, s.SQL().QueryRowContext(ctx, "select count(*) from "+table).Scan(&n))
			if n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
		if _, err := s.Catalog.Bundle(ctx, other.VersionID); err != nil {
			t.Errorf("the other task lost files that it shared: %v", err)
		}
	})
}

func TestTasksAreListedForWhoMaySeeThem(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		cora := modelstest.Person(t, s, "Cora", accounts.RoleCreator)
		admin := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		past := time.Now().Add(-time.Hour)
		for name, settings := range map[string]catalog.TaskSettings{
			"open": {}, "over": {Deadline: &past}, "draft": {Visibility: catalog.Hidden},
		} {
			settings.Devices = []string{"CPU", "T4"}
			_, err := s.Catalog.CreateTask(ctx, cora,
				catalog.NewTask{TaskSettings: settings, Bundle: modelstest.Bundle(name)})
			modelstest.Check(t, err)
		}
		for _, c := range []struct {
			viewer accounts.User
			want   int
		}{{accounts.User{}, 2}, {cora, 3}, {admin, 3}} {
			list := modelstest.TaskSummaries(t, s, c.viewer)
			if len(list) != c.want || list[len(list)-1].Slug != "over" {
				t.Errorf("%q sees %d tasks, want %d, the closed one last", c.viewer.Name, len(list), c.want)
			}
			if list[0].Lang != tasks.LangCPP || len(list[0].Boards) != 2 || list[0].Boards[1].Device != "T4" {
				t.Errorf("summary: %+v", list[0])
			}
		}
		draft, err := s.Catalog.Task(ctx, "draft")
		modelstest.Check(t, err)
		if draft.VisibleTo(accounts.User{}) || !draft.VisibleTo(cora) ||
			draft.EditableBy(accounts.User{ID: cora.ID, Role: accounts.RoleUser}) {
			t.Error("a draft is seen or changed by the wrong people")
		}
		updated, err := s.Catalog.UpdateTask(ctx, cora, draft.ID,
			catalog.TaskSettings{Title: "Now open", Devices: []string{"CPU"}})
		if err != nil || updated.Title != "Now open" || !updated.VisibleTo(accounts.User{}) {
			t.Errorf("UpdateTask: %+v, %v", updated, err)
		}
	})
}

func TestSourcesOpenAfterTheDeadline(t *testing.T) {
	deadline := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	before, after := deadline.Add(-time.Nanosecond), deadline
	author, other := accounts.User{ID: 1, Role: accounts.RoleUser}, accounts.User{ID: 2, Role: accounts.RoleCreator}
	admin := accounts.User{ID: 3, Role: accounts.RoleAdmin}
	sub := submissions.Submission{UserID: 1, Mode: job.ModeRanked}
	public := catalog.Task{OwnerID: 2, Visibility: catalog.Public, Deadline: &deadline}
	endless, hidden := public, public
	endless.Deadline, hidden.Visibility = nil, catalog.Hidden
	for _, c := range []struct {
		name   string
		viewer accounts.User
		task   catalog.Task
		at     time.Time
		want   bool
	}{
		{"author before", author, public, before, true},
		{"admin before", admin, public, before, true},
		{"owner of the task before", other, public, before, false},
		{"visitor before", accounts.User{}, public, before, false},
		{"visitor at the deadline", accounts.User{}, public, after, true},
		{"visitor, no deadline", accounts.User{}, endless, after, false},
		{"visitor after, hidden task", accounts.User{}, hidden, after, false},
		{"visitor, submission of no one", accounts.User{}, endless, before, false},
	} {
		if got := submissions.MaySeeSource(c.viewer, sub, c.task, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if submissions.MaySeeSource(accounts.User{}, submissions.Submission{}, public, before) {
		t.Error("a visitor passes for the author of a submission without one")
	}
}
