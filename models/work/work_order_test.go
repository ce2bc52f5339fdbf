package work_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestAllWaitingWorkHasOneOrder checks the order of the queue: one evaluation of each caller, then runs and other
// evaluations, then profiles that follow runs. People alternate.
func TestAllWaitingWorkHasOneOrder(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		modelstest.Check(t, s.Fleet.SaveHeartbeat(ctx,
			job.Heartbeat{
				Worker:          "w1",
				WorkerStartedAt: time.Now(),
				Slots:           []job.Slot{{Device: "CPU", CanProfile: true}},
			}))
		w.Score(t, s, w.Ann, 10) // queues a profile, which follows the ranked run
		names := map[job.WorkRef]string{}
		for i, user := range []accounts.User{w.Ann, w.Ann, w.Ben} {
			names[w.Submit(t, s, user).WorkRef()] = fmt.Sprintf("run %d", i+1)
		}
		for i, caller := range []string{"a", "a", "b"} {
			names[submitted(t, s, caller).WorkRef()] = fmt.Sprintf("evaluation %d", i+1)
		}
		order := func(list []work.QueuedWork) (out []string) {
			for _, q := range list {
				name := names[q.WorkRef()]
				if q.Priority == work.PriorityFollowUp {
					name = "profile"
				}
				out = append(out, fmt.Sprintf("%d %s", q.QueuePosition, name))
			}
			return out
		}
		want := []string{"1 evaluation 1", "2 evaluation 3", "3 run 1", "4 run 3", "5 run 2", "6 evaluation 2",
			"7 profile"}
		if diff := cmp.Diff(want, order(modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx)))); diff != "" {
			t.Errorf("the queue:\n%s", diff)
		}
		if diff := cmp.Diff(want[:4], order(modelstest.Got[[]work.QueuedWork](t)(s.Work.NextWork(ctx, "CPU", 4,
			time.Now())))); diff != "" {
			t.Errorf("the next four:\n%s", diff)
		}
		loads, err := s.Work.ReadSiteLoad(ctx)
		modelstest.Check(t, err)
		if diff := cmp.Diff([]work.QueueLength{{Device: "CPU", Waiting: 4, AheadOfNewRun: 4, BehindNewRun: 3}},
			loads.QueueLengths); diff != "" {
			t.Errorf("runs that wait:\n%s", diff)
		}
	})
}
