package models_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/quota"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// limitedTask is a test site with a task that has limits. Its methods submit to the task, one submission after the
// other.
type limitedTask struct {
	*testing.T
	store *models.Store
	world
	sent int
}

func newLimitedTask(t *testing.T, s *models.Store, limits ...quota.TaskLimit) *limitedTask {
	w := newWorld(t, s)
	in := w.Task.Settings()
	in.Devices, in.Limits = []string{"H200", "CPU"}, limits
	w.Task = modelstest.Got[catalog.Task](t)(s.Catalog.UpdateTask(t.Context(), w.Admin, w.Task.ID, in))
	return &limitedTask{T: t, store: s, world: w}
}

func (l *limitedTask) try(user accounts.User, mode job.Mode) (work.Run, error) {
	l.sent++
	_, runs, err := l.store.Submissions.Submit(l.Context(),
		submissions.NewSubmission{User: user, TaskID: l.Task.ID, Devices: []string{"H200"},
			Mode: mode, Source: fmt.Appendf(nil, "// %d", l.sent), Via: "test"})
	if err != nil {
		return work.Run{}, err
	}
	return runs[0], nil
}

func (l *limitedTask) takes(user accounts.User, mode job.Mode) work.Run {
	l.Helper()
	return modelstest.Got[work.Run](l.T)(l.try(user, mode))
}

func (l *limitedTask) refuses(user accounts.User, mode job.Mode, words string) {
	l.Helper()
	_, err := l.try(user, mode)
	var refused *db.Error
	if !errors.As(err, &refused) || refused.Kind != db.TooMany || !strings.Contains(err.Error(), words) ||
		refused.RetryAfter <= 0 {
		l.Errorf("%s, want too many: %s", err, words)
	}
}

// ago sets the time of all uses to a duration before now.
func (l *limitedTask) ago(d time.Duration) {
	l.Helper()
	modelstest.Check(l.T, modelstest.Second(l.store.SQL().ExecContext(l.Context(), "update uses set created_at = $1",
		time.Now().UTC().Add(-d))))
}

// holds ends a run that used a GPU for a duration.
func (l *limitedTask) holds(run work.Run, took time.Duration) {
	l.Helper()
	attempt := modelstest.Got[work.Attempt](l.T)(l.store.Work.StartAttempt(l.Context(), run.WorkRef()))
	modelstest.Check(l.T, modelstest.Second(l.store.SQL().ExecContext(l.Context(),
		"update attempts set created_at = $1, taken_at = null where id = $2", time.Now().UTC().Add(-2*time.Hour),
		attempt.ID)))
	result := modelstest.Result(attempt, 1e6)
	result.SlotNS = took.Nanoseconds()
	modelstest.Check(l.T, modelstest.Second(l.store.Work.RecordResult(l.Context(), result,
		work.ResultFindings{Score: &work.Score{NS: 1e6}})))
}

func TestATaskLimitsWhatEachPersonSubmitsInAMode(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		l := newLimitedTask(t, s, quota.TaskLimit{Mode: "ranked", Period: quota.LimitPerHour, MaxSubmissions: 2},
			quota.TaskLimit{Period: quota.LimitPerDay, MaxSubmissions: 4})
		first := l.takes(l.Ann, job.ModeRanked)
		l.takes(l.Ann, job.ModeRanked)
		l.refuses(l.Ann, job.ModeRanked, "at most 2 ranked submissions an hour")
		l.takes(l.Ben, job.ModeRanked) // the limit applies to each person separately
		l.takes(l.Ann, job.ModeTest)
		l.holds(first, time.Second)
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(t.Context(), l.Ann, first.SubmissionID, "")))
		l.refuses(l.Ann, job.ModeRanked, "2 ranked submissions") // deleted submissions still count
		l.ago(61 * time.Minute)
		l.takes(l.Ann, job.ModeRanked)
		l.refuses(l.Ann, job.ModeTest, "at most 4 submissions a day")
		l.ago(25 * time.Hour)
		l.takes(l.Ann, job.ModeTest)
		for range 6 {
			l.takes(l.Admin, job.ModeRanked)
		}
		modelstest.Check(t, s.DeleteExpired(t.Context(), time.Now().Add(time.Hour)))
		if spent := modelstest.Got[[]quota.LimitUse](t)(s.Quotas.UsesOfTask(t.Context(), l.Ann, l.Task.ID,
			l.Task.Limits)); spent[1].SubmissionCount != 1 {
			t.Errorf("after a sweep: %+v", spent)
		}
	})
}

func TestATaskLimitsTheGPUSecondsOfEachPerson(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		burst := newLimitedTask(t, s, quota.TaskLimit{Mode: "ranked", Period: quota.LimitPerHour, MaxGPUSeconds: 60})
		burst.takes(burst.Ann, job.ModeRanked) // without an ended run, a GPU time is assumed for it
		burst.takes(burst.Ann, job.ModeRanked)
		burst.refuses(burst.Ann, job.ModeRanked, "at most 60 GPU-seconds")
	})
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		l := newLimitedTask(t, s, quota.TaskLimit{Mode: "ranked", Period: quota.LimitPerHour, MaxGPUSeconds: 10})
		l.holds(l.takes(l.Ann, job.ModeRanked), 4*time.Second)
		waiting := l.takes(l.Ann, job.ModeRanked)
		spent := modelstest.Got[[]quota.LimitUse](t)(s.Quotas.UsesOfTask(t.Context(), l.Ann, l.Task.ID, l.Task.Limits))
		// An unfinished run counts with the average GPU time of ended ones.
		if len(spent) != 1 || spent[0].UsedGPUTime != 8*time.Second || !spent[0].AvailableAgainAt.IsZero() {
			t.Errorf("spent %+v", spent)
		}
		l.takes(l.Ann, job.ModeRanked)
		l.refuses(l.Ann, job.ModeRanked, "at most 10 GPU-seconds of ranked submissions an hour")
		l.takes(l.Ann, job.ModeBenchmark)
		_, err := s.Work.CancelRun(t.Context(), l.Ann, waiting.ID)
		modelstest.Check(t, err)
		l.takes(l.Ann, job.ModeRanked) // the cancelled run used no GPU
	})
}

func TestALimitThatMeansNothingIsRefused(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		for name, limits := range map[string][]quota.TaskLimit{
			"no number":    {{Period: quota.LimitPerHour}},
			"below zero":   {{Period: quota.LimitPerHour, MaxSubmissions: -1, MaxGPUSeconds: 5}},
			"too large":    {{Period: quota.LimitPerDay, MaxSubmissions: 10_001}},
			"another mode": {{Mode: "fast", Period: quota.LimitPerHour, MaxSubmissions: 1}},
			"another span": {{Period: "week", MaxSubmissions: 1}},
			"the same twice": {{Period: quota.LimitPerHour, MaxSubmissions: 1},
				{Period: quota.LimitPerHour, MaxGPUSeconds: 1}},
		} {
			in := w.Task.Settings()
			in.Limits = limits
			if _, err := s.Catalog.UpdateTask(t.Context(), w.Admin, w.Task.ID, in); db.KindOf(err) != db.Invalid {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
