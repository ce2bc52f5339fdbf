package dispatch

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/scores"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

// ranged publishes a version of the site's task that has ranges in its cases.
func (s *site) ranged() {
	s.Helper()
	b := modelstest.Bundle("vectoradd")
	b.Definition.Tests[0][0].Value, b.Definition.Benchmarks[0][0].Value = "uniform 1..1000000000",
		"uniform 1..1000000000 step 3"
	b.Definition.Roofline = &tasks.Roofline{Bytes: "12 * size"}
	version, _, err := s.store.Catalog.Publish(s.Context(), modelstest.Person(s, s.store, "Eve", accounts.RoleAdmin),
		s.task.ID, b, nil)
	if err != nil {
		s.Fatal(err)
	}
	s.task.VersionID = version.ID
}

// next submits a source in a mode, and returns its job.
func (s *site) next(d *Dispatcher, mode job.Mode) job.Job {
	s.Helper()
	_, _, err := s.store.Submissions.Submit(s.Context(), submissions.NewSubmission{
		User: s.ann, TaskID: s.task.ID, Devices: []string{"CPU"}, Mode: mode,
		Source: []byte("int x; // " + time.Now().String()), Via: "test",
	})
	if err != nil {
		s.Fatal(err)
	}
	s.pass(d, 0)
	return s.take()
}

func measured(j job.Job, driver string) job.Result {
	r := modelstest.Result(work.Attempt{ID: j.AttemptID, RunID: j.RunID, Secret: j.AttemptSecret}, 1e6)
	r.Machine.Driver = driver
	for i := range r.Stages {
		for k := range r.Stages[i].Cases {
			r.Stages[i].Cases[k].SpecLine = j.DeclaredCases.Benchmarks[0].String()
		}
	}
	return r
}

func (s *site) report(d *Dispatcher, r job.Result) {
	s.Helper()
	if err := d.StoreResult(s.Context(), r); err != nil {
		s.Fatal(err)
	}
}

func TestRankedRunsOfOneEpochHaveOneDraw(t *testing.T) {
	eachSite(t, func(s *site) {
		s.ranged()
		d := s.boot()
		s.beatOf(d, "580", 1)
		first := s.next(d, job.ModeRanked)
		if first.DeclaredCases == nil || first.Task.HasRanges() ||
			first.DeclaredCases.Tests[0].String() != "size: uniform 1..1000000000; seed: 1" {
			s.Fatalf("job: %+v declared as %+v", first.Task, first.DeclaredCases)
		}
		s.report(d, measured(first, "580"))
		d = s.boot() // a restarted process of the site
		s.beatOf(d, "580", 1)
		second := s.next(d, job.ModeRanked)
		if diff := cmp.Diff(first.Task, second.Task); diff != "" {
			s.Errorf("the second run has other cases (-first +second):\n%s", diff)
		}
		s.report(d, measured(second, "580"))
		test := s.next(d, job.ModeTest)
		if test.DeclaredCases != nil || test.Task.HasRanges() || cmp.Equal(first.Task.Tests, test.Task.Tests) {
			s.Errorf("a test has %v, declared %v, ranked runs have %v", test.Task.Tests, test.DeclaredCases,
				first.Task.Tests)
		}
		s.report(d, job.Result{RunID: test.RunID, AttemptID: test.AttemptID, AttemptSecret: test.AttemptSecret,
			Outcome: job.OutcomeCancelled})
		s.wantShown("hidden")
		s.beatOf(d, "590", 1)
		third := s.next(d, job.ModeRanked)
		if cmp.Equal(first.Task.Benchmarks, third.Task.Benchmarks) {
			s.Errorf("new software has the old draw %v", third.Task.Benchmarks)
		}
		s.wantShown("hidden", "hidden")
		s.report(d, measured(third, "590"))
		// Both stay hidden: if the newer entries are deleted, the older values are used again.
		s.wantShown("hidden", "hidden")
	})
}

// wantShown checks the generated values that people see, newest first.
func (s *site) wantShown(want ...string) {
	s.Helper()
	task, err := s.store.Catalog.TaskByID(s.Context(), s.task.ID)
	if err != nil {
		s.Fatal(err)
	}
	list, err := s.store.Scores.NewestDraws(s.Context(), task, time.Now())
	if err != nil {
		s.Fatal(err)
	}
	if diff := cmp.Diff(want, shown(list)); diff != "" {
		s.Errorf("draws (-want +got):\n%s", diff)
	}
}

func shown(list []scores.PublicDraw) (texts []string) {
	for _, one := range list {
		if one.Cases == nil {
			texts = append(texts, "hidden")
			continue
		}
		texts = append(texts, one.Cases.Benchmarks[0].String())
	}
	return texts
}

func TestADrawIsRevealedWhenNoScoreCanCountForIt(t *testing.T) {
	eachSite(t, func(s *site) {
		s.ranged()
		d := s.boot()
		s.beatOf(d, "580", 1)
		j := s.next(d, job.ModeRanked)
		drawn := j.Task.Benchmarks[0].String()
		s.report(d, measured(j, "580"))
		s.wantShown("hidden")
		eve := modelstest.Person(s, s.store, "Eve", accounts.RoleAdmin)
		closed := s.task.SettingsWithDeadline(new(time.Now().Add(-time.Minute)))
		if _, err := s.store.Catalog.UpdateTask(s.Context(), eve, s.task.ID, *closed); err != nil {
			s.Fatal(err)
		}
		s.wantShown(drawn)
		if _, err := s.store.Catalog.UpdateTask(s.Context(), eve, s.task.ID,
			catalog.TaskSettings{Devices: []string{"CPU"}}); db.KindOf(err) != db.Conflict {
			s.Fatalf("scores could count again for sizes that are known: %v", err)
		}
		s.wantShown(drawn)
		if _, _, err := s.store.Catalog.Publish(s.Context(), eve, s.task.ID, modelstest.Bundle("vectoradd"),
			nil); err != nil {
			s.Fatal(err)
		}
		s.wantShown(drawn)
	})
}

func TestAJobHasTheCasesOfItsDevice(t *testing.T) {
	eachSite(t, func(s *site) {
		b := modelstest.Bundle("vectoradd")
		large := append(b.Definition.Benchmarks[0].Arguments(), tasks.Arg{Name: tasks.DevicesKey, Value: "H100, H200"})
		small := tasks.Case{{Name: "size", Value: "uniform 1..1000"}, {Name: tasks.DevicesKey, Value: "CPU"}}
		b.Definition.Benchmarks, b.Definition.RankingBy = append(b.Definition.Benchmarks, large,
			small), tasks.RankGeometricMean
		if _, _, err := s.store.Catalog.Publish(s.Context(), modelstest.Person(s, s.store, "Eve", accounts.RoleAdmin),
			s.task.ID, b, nil); err != nil {
			s.Fatal(err)
		}
		j := s.next(s.boot(), job.ModeRanked)
		if got := j.DeclaredCases.Benchmarks; len(got) != 2 || got[0].String() != "size: 1024; seed: 2" ||
			got[1].String() != "size: uniform 1..1000" || j.Task.HasRanges() {
			s.Errorf("declared %v, drawn %v", got, j.Task.Benchmarks)
		}
	})
}

func TestATestOfADrawnTaskCounts(t *testing.T) {
	eachSite(t, func(s *site) {
		s.ranged()
		d := s.boot()
		s.beatOf(d, "580", 1)
		j := s.next(d, job.ModeTest)
		s.report(d, job.Result{RunID: j.RunID, AttemptID: j.AttemptID, AttemptSecret: j.AttemptSecret,
			Outcome: job.OutcomePassed,
			Stages:  []job.StageResult{{Stage: job.StageTest, Status: job.StatusPass}},
			Machine: job.Machine{Worker: "w1", Driver: "580"}})
		s.wantRun(j.RunID, work.StateDone, 1)
	})
}

func TestARunThatWasMeasuredWithOtherSoftwareIsMadeAgain(t *testing.T) {
	eachSite(t, func(s *site) {
		s.ranged()
		d := s.boot()
		s.beatOf(d, "580", 1)
		j := s.next(d, job.ModeRanked)
		s.report(d, measured(j, "590")) // the driver was updated between the heartbeat and the run
		run := s.wantRun(j.RunID, work.StateQueued, 1)
		if run.Failure == nil || !strings.Contains(run.Failure.Reason, "The software of worker w1 changed") {
			s.Errorf("failure: %+v", run.Failure)
		}
	})
}
