package queue_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/internal/test/tier"
)

// TestAClusterAsksTheSiteWhoItsWorkersAre checks that an operator's cluster with auth_callout accepts a worker's
// secret, only for the worker's devices, and refuses a wrong one. While the site's database does not answer, a worker
// waits.
func TestAClusterAsksTheSiteWhoItsWorkersAre(t *testing.T) {
	var away atomic.Int64
	url, siteURL, seed := queuetest.AskingNode(t, "../../deploy/nats.conf")
	q, err := queue.OpenQueue(t.Context(), queue.Config{ClusterURL: siteURL, AccountSeed: seed, ClusterAccount: "$G",
		Authorize: func(name, secret string) ([]string, bool, error) {
			if name == "w1" && away.Add(-1) >= 0 {
				return nil, false, errors.New("the database is away")
			}
			return []string{"CPU"}, name == "w1" && secret == "right", nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for name, secret := range map[string]string{"w1": "wrong", "w2": "right"} {
		if _, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{URL: url, Name: name,
			Secret: secret}); err == nil ||
			!strings.Contains(err.Error(), "refused worker") {
			t.Errorf("%s: %v", name, err)
		}
	}
	away.Store(1)
	worker, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{URL: url, Name: "w1", Secret: "right"})
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	handler, serving := &queuetest.Handler{}, make(chan error, 1)
	answering, end := context.WithCancel(t.Context())
	go func() { serving <- q.Serve(answering, handler) }()
	defer func() { end(); <-serving }()
	for _, device := range []string{"CPU", "H200"} {
		handler.Put(job.Job{MessageVersion: job.MessageVersion, AttemptID: device, AttemptSecret: "s", Device: device})
	}
	ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
	defer cancel()
	if j, err := worker.Receive(ctx, "CPU", nil, nil); err != nil || j.AttemptID != "CPU" {
		t.Errorf("%+v, %v", j, err)
	}
	short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if j, err := worker.Receive(short, "H200", nil, nil); err == nil {
		t.Errorf("it got another device's job: %+v", j)
	}
}
