package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

// measures submits a source for a person and ends the run with the given process times, in nanoseconds.
func (w world) measures(t testing.TB, s *models.Store, user accounts.User, source string,
	processes ...float64) work.Run {
	t.Helper()
	run := modelstest.SubmitSource(t, s, user, w.Task, source)[0]
	w.end(t, s, run, work.ResultFindings{}, processes...)
	return modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
}

// end ends a run with the given process times, in nanoseconds, and the given findings.
func (w world) end(t testing.TB, s *models.Store, run work.Run, found work.ResultFindings, processes ...float64) {
	t.Helper()
	attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
	ns, i, err := harness.CombineRuns(tasks.RankLastCase, [][][]float64{{processes}})
	modelstest.Check(t, err)
	result := modelstest.Judge(modelstest.Result(attempt, ns), ns, ns)
	result.Machine.HarnessDigest = "h1"
	for k := range result.Stages[3].Cases {
		result.Stages[3].Cases[k].ProcessMedians = processes
	}
	if found.Score == nil {
		found.Score = &work.Score{}
	}
	found.Score.NS, found.Score.DeviationNS, found.Score.StandardErrorNS = ns, 10, 1
	found.Score.Interval = boards.Interval{LowNS: &i.Low, HighNS: &i.High, Processes: i.ProcessCount, Noisy: i.Noisy}
	modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result, found)))
}

// about returns the times of five processes close to ns.
func about(ns float64) []float64 {
	return []float64{ns * 0.999, ns * 0.9995, ns, ns * 1.0005, ns * 1.001}
}

// board lists the entries of the board as "person score from n runs, run".
func (w world) board(t *testing.T, s *models.Store) (out []string) {
	t.Helper()
	page := modelstest.Got[boards.BoardPart](
		t,
	)(
		s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}),
	)
	for _, st := range page.Standings {
		out = append(
			out,
			fmt.Sprintf(
				"%s %g from %d, run %d of %d processes",
				st.UserName,
				math.Round(st.ScoreNS*10)/10,
				st.PooledRunCount,
				st.RunID,
				st.Processes,
			),
		)
	}
	return out
}

func TestTwentySubmissionsOfASourceGainNothing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, r := newWorld(t, s), rand.New(rand.NewPCG(1, 9))
		luckiest := math.Inf(1)
		for range 20 {
			processes := make([]float64, 5)
			for p := range processes {
				processes[p] = 100e3 * math.Exp(0.02*r.NormFloat64())
			}
			ns, _, err := harness.CombineRuns(tasks.RankLastCase, [][][]float64{{processes}})
			modelstest.Check(t, err)
			luckiest = min(luckiest, ns)
			w.measures(t, s, w.Ann, "void solve();\n", processes...)
		}
		page := modelstest.Got[boards.BoardPart](
			t,
		)(
			s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}),
		)
		first := page.Standings[0]
		if len(page.Standings) != 1 || first.PooledRunCount != 20 || first.Processes != 100 ||
			math.Abs(first.ScoreNS-100e3) > 500 ||
			*first.LowNS > 100e3 ||
			*first.HighNS < 100e3 {
			t.Errorf("the board says %+v", page.Standings)
		}
		if luckiest > 98.5e3 {
			t.Errorf("the luckiest run is %v: this shows nothing", luckiest)
		}
		history := modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(t.Context(), w.Task.VersionID,
			"CPU"))
		if len(history) != 1 || history[0].RunID != first.RunID || history[0].ScoreNS != first.ScoreNS {
			t.Errorf("the history has %+v", history)
		}
		w.SameAfterRebuild(t, s)
	})
}

// TestARepeatedSourceCorrectsItsStepAmongTheBests checks that the score of a repeated source changes in the table of
// best runs, even if another source is the person's entry.
func TestARepeatedSourceCorrectsItsStepAmongTheBests(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		for _, ns := range []float64{800, 1200, 600} { // the first run of the repeated source is lucky
			w.measures(t, s, w.Ann, fmt.Sprintf("%v;", ns == 600), about(ns)...)
		}
		w.measures(t, s, w.Ann, "false;", about(1100)...)
		steps := modelstest.Rows(t, s, "select score_ns from bests order by achieved_at")
		if want := []string{"1100\n", "600\n"}; !slices.Equal(steps, want) {
			t.Errorf("the bests are %q, want %q", steps, want)
		}
		w.SameAfterRebuild(t, s)
	})
}

func TestRunsOfEqualSourcesCountTogetherAsLongAsTheyAreValid(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		first := w.measures(t, s, w.Ann, "a;", about(1000)...)
		lucky := w.measures(t, s, w.Ann, "a;", about(900)...)
		w.measures(t, s, w.Ben, "a;", about(970)...) // the same source of another person
		w.measures(t, s, w.Ann, "b;", about(960)...) // another source of the same person
		third := w.measures(t, s, w.Ann, "a;", about(930)...)
		expect := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, w.board(t, s)); diff != "" {
				t.Errorf("%s:\n%s", when, diff)
			}
			w.SameAfterRebuild(t, s)
		}
		ben := "Ben 970 from 0, run 3 of 5 processes"
		expect("three runs of a source", "Ann 930 from 3, run 1 of 15 processes", ben)
		if runs := modelstest.Got[map[int64][]work.Run](t)(s.Work.RunsOfSource(ctx, third))[third.ID]; len(runs) != 3 ||
			runs[1].ID != lucky.ID ||
			*runs[1].ScoreNS != 900 {
			t.Errorf("the pool has %+v", runs)
		}
		if run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, lucky.ID)); run.MayBeEntry() || !run.Valid() {
			t.Errorf("the lucky run stands: %+v", run)
		}
		modelstest.Check(t, modelstest.Second(s.Disqualify(ctx, w.Admin, third.ID, "It knew.")))
		expect("one is disqualified", "Ann 950 from 2, run 1 of 10 processes", ben)
		modelstest.Check(t, modelstest.Second(s.Disqualify(ctx, w.Admin, first.ID, "It knew.")))
		expect("and the one that stood", "Ann 900 from 0, run 2 of 5 processes", ben)
		if run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, first.ID)); *run.ScoreNS != 1000 ||
			run.PooledRunCount != 0 ||
			run.RepresentativeRunID != nil {
			t.Errorf("it keeps numbers that are not its own: %+v", run)
		}
		modelstest.Check(t, modelstest.Second(s.Reinstate(ctx, w.Admin, first.ID, "It did not.")))
		expect("it is back", "Ann 950 from 2, run 1 of 10 processes", ben)
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, lucky.SubmissionID, "")))
		expect(
			"the lucky one is deleted by its person, and what it measured stays",
			"Ann 950 from 2, run 1 of 10 processes",
			ben,
		)
	})
}

// TestACorrectedRecordChangesTheBoard checks that a changed score of a record raises the board's change number, even if
// the person has a better entry, because pages are cached under that number.
func TestACorrectedRecordChangesTheBoard(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		w.measures(t, s, w.Ann, "b;", about(900)...)
		read := func() (records []float64, change int64) {
			for _, r := range modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(ctx,
				w.Task.VersionID, "CPU")) {
				records = append(records, math.Round(r.ScoreNS))
			}
			return records, modelstest.Got[boards.BoardPart](
				t,
			)(
				s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}),
			).ChangeNumber
		}
		before, earlier := read()
		w.measures(t, s, w.Ann, "a;", about(1100)...)
		after, later := read()
		if diff := cmp.Diff([]string{"[1000 900]", "[1050 900]"}, []string{fmt.Sprint(before), fmt.Sprint(after)}); diff != "" {
			t.Errorf("the records (-want +got):\n%s", diff)
		}
		if later == earlier {
			t.Errorf("the board's change number stays %d", later)
		}
	})
}

func TestInvalidRunsDoNotCountTogether(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		held := modelstest.SubmitSource(t, s, w.Ann, w.Task, "a;")[0]
		w.end(t, s, held, work.ResultFindings{Score: &work.Score{HeldReason: "It is below the floor."}}, about(800)...)
		failed := modelstest.Got[work.Attempt](
			t,
		)(
			s.Work.StartAttempt(ctx, modelstest.SubmitSource(t, s, w.Ann, w.Task, "a;")[0].WorkRef()),
		)
		modelstest.Check(
			t,
			modelstest.Second(
				s.Work.RecordResult(
					ctx,
					job.Result{
						RunID:         failed.RunID,
						AttemptID:     failed.ID,
						AttemptSecret: failed.Secret,
						Outcome:       job.OutcomeFailed,
						Failure:       &job.Failure{Reason: "It was lost.", IsInfrastructureError: true},
					},
					work.ResultFindings{},
				),
			),
		)
		if diff := cmp.Diff([]string{"Ann 1000 from 0, run 1 of 5 processes"}, w.board(t, s)); diff != "" {
			t.Errorf("beside a held run and one that failed:\n%s", diff)
		}
		modelstest.Check(t, modelstest.Second(s.DismissFlags(ctx, w.Admin, held.ID, "It is right.")))
		if diff := cmp.Diff([]string{"Ann 899.9 from 2, run 1 of 10 processes"}, w.board(t, s)); diff != "" {
			t.Errorf("after someone has looked:\n%s", diff)
		}
		noisy := w.measures(t, s, w.Ben, "n;", 1000, 1100, 900, 1050, 950)
		if !noisy.Noisy {
			t.Error("it is not noisy")
		}
		for range 3 {
			w.measures(t, s, w.Ben, "n;", about(1000)...)
		}
		if run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, noisy.ID)); run.Noisy || run.Processes != 20 {
			t.Errorf("repeating a noisy run did not help: %+v", run)
		}
	})
}

func TestAConfirmedScoreDoesNotMoveWithLaterRuns(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(900)...)
		for _, ns := range []float64{1000, 950, 1000, 950} {
			w.end(t, s, turn(t, s), work.ResultFindings{}, about(ns)...)
		}
		want := []string{"Ben 950 from 0, run 2 of 10 processes", "Ann 1000 from 0, run 1 of 10 processes"}
		if diff := cmp.Diff(want, w.board(t, s)); diff != "" {
			t.Fatalf("confirmed:\n%s", diff)
		}
		w.measures(t, s, w.Ben, "b;", about(800)...)
		if diff := cmp.Diff(want, w.board(t, s)); diff != "" {
			t.Errorf("after a lucky run of the confirmed source:\n%s", diff)
		}
		if runs := modelstest.Got[map[int64][]work.Run](t)(s.Work.RunsOfSource(t.Context(), modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), bens.ID))))[bens.ID]; len(
			runs,
		) != 2 {
			t.Errorf("beside it are %+v", runs)
		}
		w.SameAfterRebuild(t, s)
	})
}

func TestEqualSourcesOfAnOlderEpochStayThere(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.measures(t, s, w.Ann, "a;", about(900)...)
		w.measures(t, s, w.Ann, "a;", about(920)...)
		// the first two runs had an older harness
		if _, err := s.SQL().ExecContext(ctx, "update epochs set harness = 'h0'"); err != nil {
			t.Fatal(err)
		}
		newer := w.measures(t, s, w.Ann, "a;", about(1000)...)
		if diff := cmp.Diff([]string{fmt.Sprintf("Ann 1000 from 0, run %d of 5 processes", newer.ID)}, w.board(t, s)); diff != "" {
			t.Errorf("the board:\n%s", diff)
		}
		w.measures(t, s, w.Ann, "a;", about(1020)...)
		if diff := cmp.Diff([]string{fmt.Sprintf("Ann 1010 from 2, run %d of 10 processes", newer.ID)}, w.board(t, s)); diff != "" {
			t.Errorf("the board:\n%s", diff)
		}
	})
}

func TestARunUnderBadConditionsIsMarkedAndRepeatedFreely(t *testing.T) {
	modelstest.EachConfig(
		t,
		models.Config{SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 3}},
		func(t *testing.T, s *models.Store) {
			w, ctx := newWorld(t, s), t.Context()
			disturbed := func(source string, seen job.Disturbances) work.Run {
				run := modelstest.SubmitSource(t, s, w.Ann, w.Task, source)[0]
				attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, run.WorkRef()))
				result := modelstest.Result(attempt, 1000)
				result.Machine.Disturbances = &seen
				modelstest.Check(
					t,
					modelstest.Second(
						s.Work.RecordResult(ctx, result, work.ResultFindings{Score: &work.Score{NS: 1000}}),
					),
				)
				return modelstest.Got[work.Run](t)(s.Work.Run(ctx, run.ID))
			}
			if run := disturbed("a;", job.Disturbances{ClockSamples: 60, ProcessSamples: 12}); run.DisturbedReason != "" {
				t.Errorf("a quiet run: %q", run.DisturbedReason)
			}
			for range 3 {
				if run := disturbed("a;", job.Disturbances{SlowdownCause: "power brake"}); run.DisturbedReason != "slowed down: power brake" {
					t.Errorf("a run that was slowed down: %q", run.DisturbedReason)
				}
			}
			page := modelstest.Got[boards.BoardPart](
				t,
			)(
				s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}),
			)
			if why := page.Standings[0].DisturbedReason; why != "3 of 4 runs: slowed down: power brake" {
				t.Errorf("the board says %q", why)
			}
			w.SameAfterRebuild(t, s)
			w.Submit(t, s, w.Ann)
			w.Submit(t, s, w.Ann)
			_, _, err := s.Submissions.Submit(ctx, submissions.NewSubmission{
				User:    w.Ann,
				TaskID:  w.Task.ID,
				Devices: w.Task.Devices,
				Mode:    job.ModeRanked,
				Source:  []byte("c;"),
			})
			modelstest.WantKind(t, err, db.TooMany)
		},
	)
}

// TestResultsOfOtherCasesAreRecordedAlone checks that a result is stored even if its cases differ from those of earlier
// samples. Otherwise the run would be measured again and again.
func TestResultsOfOtherCasesAreRecordedAlone(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		for _, cases := range [][]job.CaseResult{
			nil,
			{{Status: job.StatusPass, Mean: 900}, {Status: job.StatusPass, Mean: 900}},
			{{Status: job.StatusPass, ProcessMedians: []float64{900}}, {Status: job.StatusPass, ProcessMedians: []float64{900, 901}}},
		} {
			attempt := modelstest.Got[work.Attempt](
				t,
			)(
				s.Work.StartAttempt(ctx, modelstest.SubmitSource(t, s, w.Ann, w.Task, "a;")[0].WorkRef()),
			)
			result := modelstest.Result(attempt, 1900)
			result.Stages[3].Cases = cases
			modelstest.Check(
				t,
				modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{Score: &work.Score{NS: 1900}})),
			)
		}
		w.measures(t, s, w.Ann, "a;", about(1100)...)
		w.SameAfterRebuild(t, s)
		var pooled int
		modelstest.Check(t, s.SQL().QueryRowContext(ctx, "select max(pooled) from runs").Scan(&pooled))
		if pooled != 2 {
			t.Errorf("%d runs are pooled", pooled)
		}
	})
}
