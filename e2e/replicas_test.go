package e2e

import (
	"path/filepath"
	"strconv"
	"testing"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// startReplicas starts n processes of one site, with one database and one NATS cluster.
func startReplicas(t *testing.T, cluster *queuetest.Cluster, n int, args ...string) (replicas []*site) {
	t.Helper()
	args = append([]string{"--database-url", modelstest.PostgresURL(t), "--nats-url", cluster.URL()}, args...)
	for range n {
		replicas = append(replicas, startTaskSite(t, args...))
	}
	t.Cleanup(func() { // stop before the database is deleted
		for _, s := range replicas {
			s.stop()
		}
	})
	return replicas
}

// startClusterWorker starts a worker on a NATS cluster that accepts any credential.
func startClusterWorker(t *testing.T, cluster *queuetest.Cluster, name string) *process {
	t.Helper()
	return start(t, "work", "--first-uid", strconv.Itoa(sandboxtest.FirstUID(t)), "--nats-url", cluster.URL(),
		"--worker-name", name, "--worker-secret", "s",
		"--data", filepath.Join(t.TempDir(), name), "--cpu-slots", "1", "--warm-python", "0", "--ranked-processes", "1",
		"--grace", "2s")
}

// TestViewersOfOneReplicaSeeTheOthersChanges kills one of two processes of a site during a run. A viewer of the other
// process must see the end of the run; nothing may be lost or done twice.
func TestViewersOfOneReplicaSeeTheOthersChanges(t *testing.T) {
	t.Parallel()
	cluster := queuetest.NewCluster(t, 1)
	sites := startReplicas(t, cluster, 2, "--no-worker")
	startClusterWorker(t, cluster, "w1")
	ada, bob := sites[0].person(t, "Ada", accounts.RoleUser), sites[0].person(t, "Bob", accounts.RoleUser)
	elsewhere := person{client.New(sites[1].url, ada.token), t, ada.token}
	first := ada.submit(job.ModeRanked, kernelSlowIn(work.StateTesting))
	second := bob.submit(job.ModeRanked, kernel(""))
	killed := make(chan struct{})
	var states []string
	err := elsewhere.Watch(t.Context(), first, 0, func(e client.Event) error {
		states = append(states, e.State)
		if e.State == string(work.StateTesting) && e.Detail != nil {
			select {
			case <-killed:
			default:
				sites[0].kill() // this process may have stored the event
				close(killed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-killed:
	default:
		t.Fatalf("the other replica's viewer was told nothing of testing: %v", states)
	}
	run := elsewhere.ended(first)
	behind := person{client.New(sites[1].url, bob.token), t, bob.token}.ended(second)
	for _, r := range []client.Run{run, behind} {
		if err := wantState(r, work.StateDone); err != nil || r.Attempts != 1 {
			t.Errorf("run %d after %d attempts: %v", r.ID, r.Attempts, err)
		}
	}
	endsOnce(t, elsewhere, first)
	wantBoard(t, sites[1], []client.Run{run, behind})
}
