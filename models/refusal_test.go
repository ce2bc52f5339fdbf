package models_test

import (
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
	"warpboard/models/quota"
	"warpboard/models/submissions"
	"warpboard/models/webhooks"
)

// TestValuesOutOfBoundsAreRefusedAndNotStored checks each numeric limit of values that a form or an API call can pass.
func TestValuesOutOfBoundsAreRefusedAndNotStored(t *testing.T) {
	s := modelstest.Open(t)
	w, ctx := newWorld(t, s), t.Context()
	joins := func(change func(*fleet.NewJoinToken)) error {
		n := fleet.NewJoinToken{Name: "burst", Devices: []string{"CPU"}, MaxWorkers: 1, Lifetime: time.Hour}
		change(&n)
		return modelstest.Third(s.Fleet.CreateJoinToken(ctx, w.Admin, n))
	}
	hook := func(wait time.Duration) error {
		return modelstest.Second(s.Webhooks.CreateWebhook(ctx, w.Ann,
			webhooks.NewWebhook{URL: "https://example.org", EventKinds: webhooks.PersonalKinds()[:1], LongWait: wait}))
	}
	seconds := func(n int) error {
		return s.Quotas.SetTeam(ctx, w.Admin, quota.TeamChange{Name: "Tiles", BudgetSeconds: &n})
	}
	long := strings.Repeat("x", 301)
	for name, err := range map[string]error{
		"a join token without a name": joins(func(n *fleet.NewJoinToken) { n.Name = "two words" }),
		"a join token for no one":     joins(func(n *fleet.NewJoinToken) { n.MaxWorkers = 0 }),
		"a join token for a second":   joins(func(n *fleet.NewJoinToken) { n.Lifetime = time.Second }),
		"a join token for two years": joins(
			func(n *fleet.NewJoinToken) { n.Lifetime = 2 * 366 * 24 * time.Hour }),
		"a join token for no device":            joins(func(n *fleet.NewJoinToken) { n.Devices = nil }),
		"a join token for a device without one": joins(func(n *fleet.NewJoinToken) { n.Devices = []string{"no name"} }),
		"a team without a name":                 s.Quotas.SetTeam(ctx, w.Admin, quota.TeamChange{}),
		"a team with a page of a name":          s.Quotas.SetTeam(ctx, w.Admin, quota.TeamChange{Name: long}),
		"a budget below none":                   seconds(-1),
		"a budget of centuries":                 seconds(quota.MaxBudgetSeconds + 1),
		"a pause with a page of reasons":        s.Fleet.PauseDevice(ctx, w.Admin, "CPU", long),
		"a switch that there is not":            s.Switches.TurnOff(ctx, w.Admin, "everything", "Work on the site."),
		"a switch without a reason":             s.Switches.TurnOff(ctx, w.Admin, "submissions", " "),
		"a webhook that waits a second":         hook(time.Second),
		"a webhook that waits a month":          hook(30 * 24 * time.Hour),
		"a submission with a page as its key": modelstest.Third(s.Submissions.Submit(ctx,
			submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID,
				Devices: []string{"CPU"}, Mode: job.ModeRanked, Source: []byte("int main;"), RequestKey: long})),
	} {
		t.Run(name, func(t *testing.T) { modelstest.WantKind(t, err, db.Invalid) })
	}
	if hooks := modelstest.Got[[]webhooks.Webhook](t)(s.Webhooks.Webhooks(ctx, w.Ann, false)); len(hooks) != 0 {
		t.Errorf("webhooks: %+v", hooks)
	}
	if tokens := modelstest.Got[[]fleet.JoinTokenWithWorkers](t)(s.Fleet.JoinTokens(ctx)); len(tokens) != 0 {
		t.Errorf("join tokens: %+v", tokens)
	}
	if pauses := modelstest.Got[map[string]fleet.Pause](t)(s.Fleet.Pauses(ctx)); len(pauses) != 0 {
		t.Errorf("pauses: %+v", pauses)
	}
	var stored int
	query := "select (select count(*) from submissions) + (select count(*) from audits where act <> 'create task')"
	if err := s.SQL().QueryRowContext(ctx, query).Scan(&stored); err != nil || stored != 0 {
		t.Errorf("%d rows of what was refused, %v", stored, err)
	}
}
