package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// scale is a site of two processes, three NATS nodes, and two workers, which the test kills one after the other.
type scale struct {
	*testing.T
	cluster *queuetest.Cluster
	sites   []*site
	workers []*process
	load    int // number of submissions in progress at each kill
	people  int
	runs    []client.Run
}

// TestNothingIsLostOrDoubledWhenAPartDies is the short form of scripts/scale-check: it kills one part of each kind
// under load. It starts a separate process, because one of the parts is the PostgreSQL of the process's tests.
func TestNothingIsLostOrDoubledWhenAPartDies(t *testing.T) {
	tier.Needs(t, tier.Postgres)
	t.Parallel()
	check := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestScaleCheck$", "-test.count=1")
	check.Env = append(os.Environ(), "WARPBOARD_TEST_SCALE=short")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestScaleCheck is the test of scripts/scale-check. It takes minutes: it kills each part under load, and prints the
// delays.
func TestScaleCheck(t *testing.T) {
	form := os.Getenv("WARPBOARD_TEST_SCALE")
	if form == "" {
		t.Skip("scripts/scale-check runs it: it takes minutes")
	}
	postgres := newDatabase(t)
	cluster := queuetest.NewCluster(t, 3)
	s := &scale{T: t, cluster: cluster, sites: startReplicas(t, cluster, 2, "--no-worker"), load: 6}
	each := func(n int) int { return n }
	if form == "short" {
		s.load, each = 2, func(int) int { return 1 }
	}
	for _, name := range []string{"w1", "w2"} {
		s.workers = append(s.workers, startClusterWorker(t, cluster, name))
	}
	fmt.Println("| killed | runs | lost | done twice | tried again | until the next run had ended | until all had |")
	fmt.Println("|---|---|---|---|---|---|---|")
	if form != "short" {
		s.kills("nothing", 0, func() (restore func()) { return func() {} })
	}
	for i := range each(len(s.sites)) {
		s.kills(fmt.Sprintf("replica %d", i+1), 1-i, func() func() {
			s.sites[i].kill()
			return func() { s.sites[i].up(t) }
		})
	}
	for i := range each(len(s.workers)) {
		s.kills(fmt.Sprintf("worker %d", i+1), 0, func() func() {
			s.workers[i].kill()
			return func() { s.workers[i] = startClusterWorker(t, cluster, fmt.Sprintf("w%d", i+1)) }
		})
	}
	for i := range each(3) {
		s.kills(fmt.Sprintf("NATS node %d", i+1), 0, func() func() {
			cluster.Stop(i)
			return func() { cluster.Start(i) }
		})
	}
	s.kills("PostgreSQL, and started again", 0, func() func() {
		postgres.killed(t, s.sites)
		return func() {}
	})
	wantBoard(t, s.sites[0], s.runs)
}

// kills submits s.load runs, calls kill when the first has started, and submits one more to the replica with index
// there. It prints a row of the table.
func (s *scale) kills(what string, there int, kill func() (restore func())) {
	var ids []int64
	person := func() person {
		s.people++
		return s.sites[there].person(s.T, fmt.Sprintf("p%d", s.people), accounts.RoleUser)
	}
	first := person()
	for range s.load {
		ids = append(ids, person().submit(job.ModeRanked, kernelSlowIn(work.StateTesting)))
	}
	tier.WaitFor(s.T, "the first run to be on", func() error {
		if run := first.look(ids[0]); run.StartedAt == nil {
			return fmt.Errorf("it is %s", run.State)
		}
		return nil
	})
	begun := time.Now()
	restore := kill()
	next := first.submit(job.ModeRanked, kernel(""))
	first.ended(next)
	nextAfter := time.Since(begun)
	lost, twice, again := 0, 0, 0
	for _, id := range append(ids, next) {
		run := first.ended(id)
		if run.State != string(work.StateDone) {
			lost++
			s.Errorf("%s killed: submission %d is %s: %+v", what, id, run.State, run.Failure)
		}
		again += run.Attempts - 1
		ends := 0
		err := first.Watch(s.Context(), id, 0, func(e client.Event) error {
			if e.Detail == nil && work.RunState(e.State).IsFinal() {
				ends++
			}
			return nil
		})
		if err != nil || ends != 1 {
			twice++
			s.Errorf("%s killed: submission %d ended %d times: %v", what, id, ends, err)
		}
		s.runs = append(s.runs, run)
	}
	fmt.Printf("| %s | %d | %d | %d | %d | %.1f s | %.1f s |\n", what, len(ids)+1, lost, twice, again,
		nextAfter.Seconds(), time.Since(begun).Seconds())
	restore()
}
