package queue_test

import (
	"context"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/internal/test/tier"
)

// TestAClusterGoesOnWithoutOneOfThreeNodes checks that, while one node is down, a site can start, a worker receives a
// job, and its result is recorded.
func TestAClusterGoesOnWithoutOneOfThreeNodes(t *testing.T) {
	t.Parallel() // the test waits until lost connections are detected
	cluster := queuetest.NewCluster(t, 3)
	cluster.Stop(0)
	recorded := make(chan job.Result, 10)
	site, err := queue.OpenQueue(t.Context(), queue.Config{ClusterURL: cluster.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	handler := &queuetest.Handler{OnResult: func(r job.Result) error {
		recorded <- r
		return nil
	}}
	ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
	defer cancel()
	serving := make(chan error, 1)
	go func() { serving <- site.Serve(ctx, handler) }()
	worker, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{URL: cluster.URL(), Name: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	handler.Put(job.Job{MessageVersion: job.MessageVersion, AttemptID: "a1", AttemptSecret: "s", Device: "CPU"})
	if _, err := worker.Receive(ctx, "CPU", nil, nil); err != nil {
		t.Fatal(err)
	}
	cluster.Start(0)
	cluster.Stop(1)
	for err = send(ctx, worker); err != nil && ctx.Err() == nil; {
		err = send(ctx, worker)
	}
	if r := <-recorded; err != nil || r.AttemptID != "a1" || r.Machine.Worker != "w1" {
		t.Errorf("result %+v, %v", r, err)
	}
	cancel()
	if err := <-serving; err != nil {
		t.Error(err)
	}
}

// send tries once to deliver the result, and waits at most 5 s, because a message can be lost with its connection.
func send(ctx context.Context, worker *queue.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return worker.PublishResult(ctx, job.Result{AttemptID: "a1"})
}
