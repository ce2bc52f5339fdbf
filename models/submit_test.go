package models_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestASubmissionHasOneRunPerDeviceOrIsRefusedWhole(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		admin := modelstest.Person(t, s, "Root", models.RoleAdmin)
		ann := modelstest.Person(t, s, "Ann", models.RoleUser)
		ben := modelstest.Person(t, s, "Ben", models.RoleUser)
		task := modelstest.Task(t, s, admin, "vectoradd", "H200", "CPU")
		closed := modelstest.Task(t, s, admin, "closed", "CPU")
		hidden := modelstest.Task(t, s, admin, "hidden", "CPU")
		past := time.Now().In(time.FixedZone("", -5*3600)).Add(-time.Second) // text of a later hour must not count
		_, err := s.UpdateTask(ctx, admin, closed.ID, models.TaskSettings{Devices: closed.Devices, Deadline: &past})
		check(t, err)
		_, err = s.UpdateTask(ctx, admin, hidden.ID, models.TaskSettings{Devices: hidden.Devices, Visibility: models.Hidden})
		check(t, err)
		check(t, s.SetBlocked(ctx, admin, ben.ID, true))

		good := models.NewSubmission{User: ann, TaskID: task.ID, Devices: []string{"CPU", "H200"}, Mode: job.ModeTest, Source: []byte("int x;")}
		for name, c := range map[string]struct {
			change func(*models.NewSubmission)
			want   models.Kind
		}{
			"visitor":        {func(n *models.NewSubmission) { n.User = models.User{} }, models.Forbidden},
			"blocked":        {func(n *models.NewSubmission) { n.User = ben }, models.Forbidden},
			"after deadline": {func(n *models.NewSubmission) { n.TaskID, n.Devices = closed.ID, closed.Devices }, models.Forbidden},
			"hidden task":    {func(n *models.NewSubmission) { n.TaskID, n.Devices = hidden.ID, hidden.Devices }, models.NotFound},
			"no task":        {func(n *models.NewSubmission) { n.TaskID = 999 }, models.NotFound},
			"no device":      {func(n *models.NewSubmission) { n.Devices = nil }, models.Invalid},
			"other device":   {func(n *models.NewSubmission) { n.Devices = []string{"CPU", "T4"} }, models.Invalid},
			"device twice":   {func(n *models.NewSubmission) { n.Devices = []string{"CPU", "CPU"} }, models.Invalid},
			"empty":          {func(n *models.NewSubmission) { n.Source = nil }, models.Invalid},
			"too large":      {func(n *models.NewSubmission) { n.Source = []byte(strings.Repeat("x", 1<<21)) }, models.Invalid},
			"not text":       {func(n *models.NewSubmission) { n.Source = []byte{0xff, 0xfe} }, models.Invalid},
			"odd mode":       {func(n *models.NewSubmission) { n.Mode = "fast" }, models.Invalid},
			"odd name":       {func(n *models.NewSubmission) { n.FileName = "kernel.py" }, models.Invalid},
		} {
			t.Run(name, func(t *testing.T) {
				in := good
				c.change(&in)
				_, _, err := s.Submit(ctx, in)
				wantKind(t, err, c.want)
			})
		}
		good.FileName = `C:\work\my kernel.CPP`
		sub, runs, err := s.Submit(ctx, good)
		check(t, err)
		if sub.ID != 1 || sub.FileName != "my kernel.CPP" || len(runs) != 2 || runs[1].Device != "H200" || runs[1].State != models.StateQueued {
			t.Errorf("Submit: %+v, %+v", sub, runs)
		}
		if source, err := s.Source(ctx, sub); err != nil || string(source) != "int x;" {
			t.Errorf("Source: %q, %v", source, err)
		}
		list, err := s.Submissions(ctx, models.User{}, models.SubmissionFilter{UserID: ann.ID, TaskID: task.ID})
		if err != nil || len(list) != 1 || len(list[0].Runs) != 2 || list[0].UserName != "Ann" || list[0].TaskSlug != "vectoradd" {
			t.Errorf("Submissions: %+v, %v", list, err)
		}
		tries, err := s.Tries(ctx, ann.ID, task.ID, 5)
		if err != nil || len(tries) != 1 || tries[0].ID != sub.ID || !tries[0].CreatedAt.Equal(sub.CreatedAt) || tries[0].Mode != sub.Mode || len(tries[0].Runs) != 2 {
			t.Errorf("Tries: %+v, %v", tries, err)
		}
		if list, err := s.Submissions(ctx, models.User{}, models.SubmissionFilter{Before: sub.ID}); err != nil || len(list) != 0 {
			t.Errorf("Submissions before the first: %+v, %v", list, err)
		}
	})
}

func TestAUsedUpLimitSaysWhenToTryAgain(t *testing.T) {
	cfg := models.Config{Limits: models.Limits{PerHour: 2, Waiting: 10}}
	modelstest.EachConfig(t, cfg, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		submit := func(user models.User) error {
			_, _, err := s.Submit(t.Context(), models.NewSubmission{User: user, TaskID: w.task.ID, Devices: w.task.Devices, Mode: job.ModeTest, Source: []byte("x")})
			return err
		}
		began := time.Now()
		check(t, submit(w.ann))
		check(t, submit(w.ann))
		err := submit(w.ann)
		wantKind(t, err, models.TooMany)
		if e, _ := errors.AsType[*models.Error](err); e.RetryAfter < time.Hour-time.Since(began) || e.RetryAfter > time.Hour {
			t.Errorf("try again after %v", e.RetryAfter)
		}
		check(t, submit(w.ben))
		for range 5 {
			check(t, submit(w.admin))
		}
	})
}

func TestASubmissionThatFailedByOurFaultCostsNothing(t *testing.T) {
	cfg := models.Config{Limits: models.Limits{PerHour: 1}}
	modelstest.EachConfig(t, cfg, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		run := w.submit(t, s, w.ann)
		again := models.NewSubmission{User: w.ann, TaskID: w.task.ID, Devices: w.task.Devices, Mode: job.ModeTest, Source: []byte("x")}
		_, _, err := s.Submit(ctx, again)
		wantKind(t, err, models.TooMany)
		for range work.MaxLosses {
			attempt, err := s.StartAttempt(ctx, run.Ref())
			check(t, err)
			result := modelstest.Result(attempt, 1)
			result.Outcome, result.Suspect, result.Failure = job.OutcomeLost, true, &job.Failure{Reason: "The disk is full.", Infrastructure: true}
			check(t, second(s.RecordResult(ctx, result, models.Findings{})))
		}
		_, _, err = s.Submit(ctx, again)
		check(t, err)
	})
}

func TestSomebodyWithManyLiveRunsWaits(t *testing.T) {
	modelstest.EachConfig(t, models.Config{Limits: models.Limits{Waiting: 1}}, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		run := w.submit(t, s, w.ann)
		_, _, err := s.Submit(t.Context(), models.NewSubmission{User: w.ann, TaskID: w.task.ID, Devices: w.task.Devices, Mode: job.ModeTest, Source: []byte("x")})
		wantKind(t, err, models.TooMany)
		modelstest.Finish(t, s, run, 5)
		w.submit(t, s, w.ann)
	})
}
