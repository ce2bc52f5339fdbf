package submissions_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

func TestASubmissionHasOneRunPerDeviceOrIsRefusedWhole(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		admin := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		ann := modelstest.Person(t, s, "Ann", accounts.RoleUser)
		ben := modelstest.Person(t, s, "Ben", accounts.RoleUser)
		task := modelstest.Task(t, s, admin, "vectoradd", "H200", "CPU")
		closed := modelstest.Task(t, s, admin, "closed", "CPU")
		hidden := modelstest.Task(t, s, admin, "hidden", "CPU")
		// in another time zone, so that a comparison as text would be wrong
		past := time.Now().In(time.FixedZone("", -5*3600)).Add(-time.Second)
		_, err := s.Catalog.UpdateTask(ctx, admin, closed.ID,
			catalog.TaskSettings{Devices: closed.Devices, Deadline: &past})
		modelstest.Check(t, err)
		_, err = s.Catalog.UpdateTask(ctx, admin, hidden.ID,
			catalog.TaskSettings{Devices: hidden.Devices, Visibility: catalog.Hidden})
		modelstest.Check(t, err)
		modelstest.Check(t, s.Accounts.SetBlocked(ctx, admin, ben.ID, true))

		good := submissions.NewSubmission{User: ann, TaskID: task.ID, Devices: []string{"CPU", "H200"},
			Mode: job.ModeTest, Source: []byte("int x;")}
		for name, c := range map[string]struct {
			change func(*submissions.NewSubmission)
			want   db.ErrorKind
		}{
			"visitor": {func(n *submissions.NewSubmission) { n.User = accounts.User{} }, db.Forbidden},
			"blocked": {func(n *submissions.NewSubmission) { n.User = ben }, db.Forbidden},
			"after deadline": {func(n *submissions.NewSubmission) { n.TaskID, n.Devices = closed.ID, closed.Devices },
				db.Forbidden},
			"hidden task": {func(n *submissions.NewSubmission) { n.TaskID, n.Devices = hidden.ID, hidden.Devices },
				db.NotFound},
			"no task":      {func(n *submissions.NewSubmission) { n.TaskID = 999 }, db.NotFound},
			"no device":    {func(n *submissions.NewSubmission) { n.Devices = nil }, db.Invalid},
			"other device": {func(n *submissions.NewSubmission) { n.Devices = []string{"CPU", "T4"} }, db.Invalid},
			"device twice": {func(n *submissions.NewSubmission) { n.Devices = []string{"CPU", "CPU"} }, db.Invalid},
			"empty":        {func(n *submissions.NewSubmission) { n.Source = nil }, db.Invalid},
			"too large": {func(n *submissions.NewSubmission) { n.Source = []byte(strings.Repeat("x", 1<<21)) },
				db.Invalid},
			"not text": {func(n *submissions.NewSubmission) { n.Source = []byte{0xff, 0xfe} }, db.Invalid},
			"odd mode": {func(n *submissions.NewSubmission) { n.Mode = "fast" }, db.Invalid},
			"another file": {func(n *submissions.NewSubmission) { n.AdditionalFiles = map[string][]byte{"a.h": nil} },
				db.Invalid},
			"odd name": {func(n *submissions.NewSubmission) { n.FileName = "kernel.py" }, db.Invalid},
		} {
			t.Run(name, func(t *testing.T) {
				in := good
				c.change(&in)
				_, _, err := s.Submissions.Submit(ctx, in)
				modelstest.WantKind(t, err, c.want)
			})
		}
		good.FileName = `C:\work\my kernel.CPP`
		sub, runs, err := s.Submissions.Submit(ctx, good)
		modelstest.Check(t, err)
		if sub.ID != 1 || sub.FileName != "my kernel.CPP" || len(runs) != 2 || runs[1].Device != "H200" ||
			runs[1].State != work.StateQueued {
			t.Errorf("Submit: %+v, %+v", sub, runs)
		}
		if source, err := s.Submissions.Source(ctx, sub); err != nil || string(source.Source) != "int x;" ||
			len(source.Files) > 0 {
			t.Errorf("Source: %q, %v", source, err)
		}
		list, err := s.Submissions.Submissions(ctx, accounts.User{},
			submissions.SubmissionFilter{UserID: ann.ID, TaskID: task.ID})
		if err != nil || len(list) != 1 || len(list[0].Runs) != 2 || list[0].UserName != "Ann" ||
			list[0].TaskSlug != "vectoradd" {
			t.Errorf("Submissions: %+v, %v", list, err)
		}
		tries, err := s.Submissions.LatestToTask(ctx, ann.ID, task.ID, 5)
		if err != nil || len(tries) != 1 || tries[0].ID != sub.ID || !tries[0].CreatedAt.Equal(sub.CreatedAt) ||
			tries[0].Mode != sub.Mode || len(tries[0].Runs) != 2 {
			t.Errorf("Tries: %+v, %v", tries, err)
		}
		short := modelstest.Got[[]submissions.SubmissionSummary](t)(s.Submissions.Submissions(ctx, accounts.User{},
			submissions.SubmissionFilter{UserID: ann.ID, OnlyTableColumns: true}))
		if runs := short[0].Runs; len(runs) != 2 || runs[1].Device != "H200" || runs[1].State != work.StateQueued ||
			!runs[1].QueuedAt.Equal(list[0].Runs[1].QueuedAt) {
			t.Errorf("Submissions in short: %+v", short)
		}
		for since, want := range map[time.Time]map[string]int{sub.CreatedAt: {sub.CreatedAt.UTC().Format(
			time.DateOnly): 1}, sub.CreatedAt.Add(time.Hour): {}} {
			if days, err := s.Submissions.CountByDay(ctx, accounts.User{}, ann.ID, since); err != nil ||
				!maps.Equal(days, want) {
				t.Errorf("Activity since %s: %v, %v", since, days, err)
			}
		}
		if list, err := s.Submissions.Submissions(ctx, accounts.User{},
			submissions.SubmissionFilter{BeforeID: sub.ID}); err != nil || len(list) != 0 {
			t.Errorf("Submissions before the first: %+v, %v", list, err)
		}
	})
}

func TestFurtherFilesAreAsMuchOfASubmissionAsItsSource(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx, admin, ann := t.Context(), modelstest.Person(t, s, "Root", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ann", accounts.RoleUser)
		bundle := modelstest.Bundle("several")
		bundle.Definition.SubmissionFiles = []string{"*.h"}
		bundle.Files["task.h"] = []byte("#include <vector.h>\n")
		task, err := s.Catalog.CreateTask(ctx, admin,
			catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
		modelstest.Check(t, err)
		submit := func(key, tile string, more ...string) (submissions.Submission, []work.Run, error) {
			in := submissions.NewSubmission{User: ann, TaskID: task.ID, Devices: task.Devices, Mode: job.ModeRanked,
				FileName: "kernel.cpp",
				Source:   []byte("int x;"), AdditionalFiles: map[string][]byte{"tile.h": []byte(tile)}, RequestKey: key}
			for _, name := range more {
				in.AdditionalFiles[name] = nil
			}
			return s.Submissions.Submit(ctx, in)
		}
		for name, want := range map[string]string{
			"task.h": "has the name of a file of the task", "vector.h": "task.h of the task includes or imports",
			"a.cuh": "is not one that the task takes", "../a.h": "not a plain file name",
		} {
			_, _, err := submit("", "", name)
			modelstest.WantKind(t, err, db.Invalid)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		first, runs, err := submit("k", "int tile; // /proc/\n")
		modelstest.Check(t, err)
		again, _, err := submit("k", "int tile; // /proc/\n")
		if err != nil || again.ID != first.ID {
			t.Errorf("sent again it is submission %d, not %d: %v", again.ID, first.ID, err)
		}
		_, _, err = submit("k", "int other;\n")
		modelstest.WantKind(t, err, db.Conflict)
		got, err := s.Submissions.Source(ctx, first)
		if err != nil || string(got.Source) != "int x;" || string(got.Files["tile.h"]) != "int tile; // /proc/\n" ||
			db.Hash(got.Pack()) != first.SourceHash {
			t.Errorf("Source: %+v, %v", got, err)
		}
		all, err := s.Submissions.Sources(ctx, []int64{first.ID})
		if err != nil || string(all[first.ID].Files["tile.h"]) == "" {
			t.Errorf("Sources: %+v, %v", all, err)
		}
		flags, err := s.Flags(ctx, admin, runs[0], task)
		if err != nil || len(flags) != 1 ||
			!strings.Contains(flags[0].Detail, "tile.h line 1 reaches into the process") {
			t.Errorf("flags: %+v, %v", flags, err)
		}
		alike, _, err := submit("", "int tile; // /proc/\n")
		modelstest.Check(t, err)
		other, _, err := submit("", "int tile2;")
		if err != nil || alike.SourceKey != first.SourceKey || other.SourceKey == first.SourceKey || len(runs) != 1 {
			t.Errorf("keys: %q alike, %q, %q another: %v", first.SourceKey, alike.SourceKey, other.SourceKey, err)
		}
	})
}

// TestSourcesOfADayAreBounded checks that the daily limit of source bytes also counts submissions that are cancelled at
// once.
func TestSourcesOfADayAreBounded(t *testing.T) {
	modelstest.EachConfig(t, models.Config{SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 2}},
		func(t *testing.T, s *models.Store) {
			w := modelstest.NewWorld(t, s)
			submit := func(user accounts.User, letter string, size int) error {
				_, runs, err := s.Submissions.Submit(t.Context(),
					submissions.NewSubmission{User: user, TaskID: w.Task.ID, Devices: w.Task.Devices,
						Mode:   job.ModeTest,
						Source: bytes.Repeat([]byte(letter), size)})
				if err == nil {
					modelstest.Check(t, modelstest.Second(s.Work.CancelRun(t.Context(), user, runs[0].ID)))
				}
				return err
			}
			age := func(by time.Duration) {
				modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(),
					"update submissions set created_at = $1", time.Now().Add(-by).UTC())))
			}
			for _, letter := range []string{"a", "b"} {
				modelstest.Check(t, submit(w.Ann, letter, tasks.MaxSubmission))
			}
			age(2 * time.Hour)
			modelstest.WantKind(t, submit(w.Ann, "c", 1), db.TooMany)
			modelstest.Check(t, submit(w.Ben, "c", 1))
			age(25 * time.Hour)
			modelstest.Check(t, submit(w.Ann, "c", 1))
		})
}

func TestAUsedUpLimitSaysWhenToTryAgain(t *testing.T) {
	cfg := models.Config{SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 2, MaxUnfinishedRuns: 10}}
	modelstest.EachConfig(t, cfg, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		submit := func(user accounts.User) error {
			_, _, err := s.Submissions.Submit(t.Context(),
				submissions.NewSubmission{User: user, TaskID: w.Task.ID, Devices: w.Task.Devices, Mode: job.ModeTest,
					Source: []byte("x")})
			return err
		}
		began := time.Now()
		modelstest.Check(t, submit(w.Ann))
		modelstest.Check(t, submit(w.Ann))
		err := submit(w.Ann)
		modelstest.WantKind(t, err, db.TooMany)
		if e, _ := errors.AsType[*db.Error](err); e.RetryAfter < time.Hour-time.Since(began) ||
			e.RetryAfter > time.Hour {
			t.Errorf("try again after %v", e.RetryAfter)
		}
		modelstest.Check(t, submit(w.Ben))
		for range 5 {
			modelstest.Check(t, submit(w.Admin))
		}
	})
}

func TestAnInfrastructureErrorUsesNoLimit(t *testing.T) {
	cfg := models.Config{SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 1}}
	modelstest.EachConfig(t, cfg, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		again := submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID, Devices: w.Task.Devices, Mode: job.ModeTest,
			Source: []byte("x")}
		_, _, err := s.Submissions.Submit(ctx, again)
		modelstest.WantKind(t, err, db.TooMany)
		for range work.MaxLosses {
			attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
			modelstest.Check(t, err)
			result := modelstest.Result(attempt, 1)
			result.Outcome, result.CausedByJob, result.Failure = job.OutcomeLost, true,
				&job.Failure{Reason: "The disk is full.", IsInfrastructureError: true}
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		}
		_, _, err = s.Submissions.Submit(ctx, again)
		modelstest.Check(t, err)
	})
}

func TestAPersonWithManyLiveRunsWaits(t *testing.T) {
	modelstest.EachConfig(t, models.Config{SubmissionLimits: submissions.SubmissionLimits{MaxUnfinishedRuns: 1}},
		func(t *testing.T, s *models.Store) {
			w := modelstest.NewWorld(t, s)
			run := w.Submit(t, s, w.Ann)
			_, _, err := s.Submissions.Submit(t.Context(),
				submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID, Devices: w.Task.Devices, Mode: job.ModeTest,
					Source: []byte("x")})
			modelstest.WantKind(t, err, db.TooMany)
			modelstest.Finish(t, s, run, 5)
			w.Submit(t, s, w.Ann)
		})
}
