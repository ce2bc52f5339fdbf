package models_test

import (
	"fmt"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestATurnWaitsAtMostTenMinutes checks that on a busy device a turn yields to people's runs for ten minutes, and then
// precedes all runs that were queued after it, even if the person whose run it measures submits many runs.
func TestATurnWaitsAtMostTenMinutes(t *testing.T) {
	modelstest.EachConfig(t, models.Config{ConfirmFirstPlaces: true}, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.Score(t, s, w.Ann, 1000)
		w.Score(t, s, w.Ben, 900)
		annsTurn := turn(t, s)
		for _, who := range []string{"", "Cleo", "Dora", "Emil"} {
			user := w.Ann
			if who != "" {
				user = modelstest.Person(t, s, who, accounts.RoleUser)
			}
			for range 2 {
				w.Submit(t, s, user)
			}
		}
		place := func() int {
			waits := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx))
			for _, q := range waits {
				if q.RunID == annsTurn.ID {
					return q.QueuePosition
				}
			}
			t.Fatalf("it is not in the queue: %+v", waits)
			return 0
		}
		modelstest.Check(t, s.PrioritizeOverdueTurns(ctx, annsTurn.QueuedAt.Add(9*time.Minute)))
		if place() != 9 {
			t.Errorf("after nine minutes it has place %d of 9", place())
		}
		modelstest.Check(t, s.PrioritizeOverdueTurns(ctx, annsTurn.QueuedAt.Add(10*time.Minute)))
		if place() != 1 {
			t.Errorf("after ten minutes it has place %d", place())
		}
		attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, annsTurn.WorkRef()))
		if live := modelstest.Got[[]work.LiveAttempt](t)(s.Work.LiveAttempts(ctx)); len(live) != 1 ||
			live[0].ID != attempt.ID || live[0].Priority != work.PriorityRun {
			t.Errorf("it could be preempted: %s", fmt.Sprint(live))
		}
	})
}
