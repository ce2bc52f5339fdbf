package queue_test

import (
	"context"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/queue/queuetest"
)

// TestAClusterGoesOnWithoutOneOfThreeNodes: streams have the copies that were asked for and keep them, and a site starts, a
// job is taken and its result recorded while a node is down.
func TestAClusterGoesOnWithoutOneOfThreeNodes(t *testing.T) {
	t.Parallel() // three servers choose leaders twice, which takes seconds of waiting
	cluster := queuetest.NewCluster(t, 3)
	open := func(replicas int) *queue.Queue {
		t.Helper()
		q, err := queue.Open(t.Context(), queue.Config{URL: cluster.URL(), Replicas: replicas})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(q.Close)
		return q
	}
	open(3)
	cluster.Stop(0)
	site := open(0)
	worker, err := queue.Dial(t.Context(), queue.WorkerConfig{URL: cluster.URL(), Name: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	if err := site.Publish(ctx, job.Job{Version: job.Version, AttemptID: "a1", Secret: "s", Device: "CPU"}); err != nil {
		t.Fatal(err)
	}
	d, err := worker.Receive(ctx, "CPU", nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Start(0)
	cluster.Await(0)
	cluster.Stop(1) // the job and its result are on another one
	for err = send(ctx, worker); err != nil && ctx.Err() == nil; {
		err = send(ctx, worker)
	}
	if err != nil {
		t.Fatal(err)
	}
	recorded, stop := context.WithCancel(ctx)
	if err := site.Results(recorded, func(_ context.Context, r job.Result) error {
		if r.AttemptID != "a1" || r.Machine.Worker != "w1" {
			t.Errorf("result %+v", r)
		}
		stop()
		return nil
	}); err != nil || ctx.Err() != nil {
		t.Fatalf("%v, %v", err, ctx.Err())
	}
	_ = d.Done(ctx)
}

// send tries once to hand over the result, as a worker does: what is lost with a connection is not waited for.
func send(ctx context.Context, worker *queue.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return worker.PublishResult(ctx, job.Result{AttemptID: "a1"})
}
