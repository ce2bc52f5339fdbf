package webtest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/webhooks"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web"
)

// EventOf creates an event that ends in an hour. If frozenFor is not 0, its boards have been frozen for that time.
func (s *Site) EventOf(owner accounts.User, frozenFor time.Duration, slugs ...string) events.Event {
	s.T.Helper()
	now := time.Now()
	in := events.EventSettings{Title: "Winter Cup", Description: "**Prizes** for the first three.",
		StartsAt: now.Add(-time.Hour),
		EndsAt:   now.Add(time.Hour), PointsRuleText: "5/3/1", Tasks: slugs}
	if frozenFor > 0 {
		at := now.Add(-frozenFor)
		in.FrozenAt = &at
	}
	e, err := s.Cfg.Store.Events.Create(s.T.Context(), owner, in)
	if err != nil {
		s.T.Fatal(err)
	}
	return e
}

// Event creates an event with the scene's task, like EventOf.
func (s *Scene) Event(frozenFor time.Duration) events.Event {
	s.T.Helper()
	return s.EventOf(s.Admin, frozenFor, s.Task.Slug)
}

// SQL executes a statement that changes the store, for example a time for which a test cannot wait.
func (s *Scene) SQL(query string, args ...any) {
	s.T.Helper()
	if _, err := s.Cfg.Store.SQL().ExecContext(s.T.Context(), query, args...); err != nil {
		s.T.Fatal(err)
	}
}

// Ended sets the end of an event and the deadlines of its tasks to a second ago.
func (s *Scene) Ended(e events.Event) {
	s.T.Helper()
	past := time.Now().Add(-time.Second).UTC().Format("2006-01-02 15:04:05+00:00")
	s.SQL("update events set ends_at = $1 where id = $2", past, e.ID)
	s.SQL("update tasks set deadline = $1 where id in (select task_id from event_tasks where event_id = $2)", past,
		e.ID)
}

// Closes sets the deadline of the scene's task to an hour ago. practice selects whether it still accepts practice runs.
func (s *Scene) Closes(practice bool) {
	s.T.Helper()
	b := s.BrowserOf(s.Admin)
	values := Fields(b.Page("/tasks/"+s.Task.Slug+"/edit", http.StatusOK).Find("form[action$='/edit']"))
	values.Set("deadline", time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05"))
	values["device"] = s.Task.Devices
	values.Del("practice")
	if practice {
		values.Set("practice", "1")
	}
	WantStatus(s.T, b.Post("/tasks/"+s.Task.Slug+"/edit", values), http.StatusOK)
}

// JudgedCases returns three cases that a judge timed: an honest one, one with work on a CUDA stream for which nothing
// waits, and one that delays its calls on the host.
func JudgedCases() []job.CaseResult {
	cases := TimedCases(12e3)
	for i := range cases {
		c := &cases[i]
		c.ClockTimes = job.ClockTimes{CountedClock: job.ClockEvent, EventTime: c.Median, WallTime: c.Median + 1500, SnapshotTime: c.Median + 1200,
			WallTolerance: 10e3, EmptyCallTime: 154e3}
	}
	cases[1].Median, cases[1].ClockTimes = 196.2e3,
		job.ClockTimes{CountedClock: job.ClockWall, EventTime: 1.25e3, WallTime: 206.2e3, SnapshotTime: 205.9e3,
			WallTolerance: 10e3,
			EmptyCallTime: 154e3}
	cases[2].Median, cases[2].ClockTimes = 119e3,
		job.ClockTimes{CountedClock: job.ClockWall, EventTime: 228e3, WallTime: 119e3, SnapshotTime: 119e3, LateCalls: 100, WallTolerance: 10e3,
			EmptyCallTime: 154e3}
	return cases
}

// Judge submits a run for Ada and ends it with the given cases, as timed by a judge.
func (s *Scene) Judge(device string, cases []job.CaseResult, score float64) work.Run {
	s.T.Helper()
	run := s.Submit(s.Ada, device, GoodKernel)
	attempt := s.Attempt(run)
	result := modelstest.Result(attempt, score)
	result.Stages[2].Cases, result.Stages[3].Cases = cases, cases
	s.Record(result, &work.Score{NS: score, DeviationNS: score / 50, StandardErrorNS: score / 500})
	return run
}

// Webhook creates a webhook for the whole site with some logged deliveries, and returns the path of its page.
func (s *Scene) Webhook() string {
	s.T.Helper()
	hook, err := s.Cfg.Store.Webhooks.CreateWebhook(s.T.Context(), s.Admin,
		webhooks.NewWebhook{
			ForWholeSite: true,
			URL:          "https://hooks.example.org/warpboard",
			EventKinds:   webhooks.SiteKinds(),
		})
	if err != nil {
		s.T.Fatal(err)
	}
	answers := []webhooks.TryResult{{Status: 204}, {Status: 503, Problem: "the receiver answered 503"},
		{Problem: "no answer within 10 s"}}
	for range answers {
		if err := s.Cfg.Store.Webhooks.TestWebhook(s.T.Context(), s.Admin, hook.ID); err != nil {
			s.T.Fatal(err)
		}
	}
	due, err := s.Cfg.Store.Webhooks.DueDeliveries(s.T.Context(), time.Now(), nil, 10, 10)
	if err != nil {
		s.T.Fatal(err)
	}
	for i, d := range due {
		answers[i%len(answers)].At = time.Now()
		if err := s.Cfg.Store.Webhooks.RecordTryResult(s.T.Context(), d, answers[i%len(answers)]); err != nil {
			s.T.Fatal(err)
		}
	}
	return fmt.Sprintf("/webhooks/%d", hook.ID)
}

// Measured connects a first worker for a device and ends the queued runs of baselines there with the time ns.
func (s *Scene) Measured(device string, ns float64) {
	s.T.Helper()
	h := job.Heartbeat{Worker: "rack-9", WorkerStartedAt: time.Now(),
		Slots: []job.Slot{{Device: device, Machine: job.Machine{Driver: "570"}}}}
	_, _, err := s.Cfg.Store.RecordSlots(context.Background(), h)
	if err != nil {
		s.T.Fatal(err)
	}
	waits, err := s.Cfg.Store.Work.WaitingQueue(context.Background())
	if err != nil {
		s.T.Fatal(err)
	}
	for _, q := range waits {
		if q.Priority == work.PriorityBaseline && q.Device == device {
			run, err := s.Cfg.Store.Work.Run(context.Background(), q.RunID)
			if err != nil {
				s.T.Fatal(err)
			}
			s.Finish(run, ns)
		}
	}
}

// SomeAttacks configures a site with three attacks: one with the expected result, one with another result, and one not
// tried.
func SomeAttacks(c *web.Config) {
	c.Attacks = []views.Attack{
		{Name: "early-done", Title: "Done at once", Family: "Done too early",
			Results: []views.AttackResult{{Device: "CPU", Verdict: "refused", EndedAsExpected: true}}},
		{Name: "other-clocks", Title: "Other clocks", Family: "False clocks",
			Results: []views.AttackResult{{Device: "CPU", Verdict: "ranked"}}},
		{Name: "not-tried", Title: "Not tried", Family: "False clocks"},
	}
}
