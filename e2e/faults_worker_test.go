package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// startOpenSite starts a server that evaluates nothing itself and accepts remote workers at the returned address.
func startOpenSite(t *testing.T, args ...string) (s *site, nats string) {
	t.Helper()
	nats = sandboxtest.Addr(t)
	return startTaskSite(t, append(args, "--no-worker", "--nats-listen", nats)...), "nats://" + nats
}

// startWorker starts a worker as a second process, with its own credential.
func (s *site) startWorker(t *testing.T, url, name string, args ...string) *process {
	t.Helper()
	return s.startWorkerWith(t, nil, url, name, args...)
}

// startWorkerWith is startWorker with more variables in the worker's environment.
func (s *site) startWorkerWith(t *testing.T, env []string, url, name string, args ...string) *process {
	t.Helper()
	uid := strconv.Itoa(sandboxtest.FirstUID(t))
	return startWith(t, env, append([]string{"work", "--first-uid", uid, "--nats-url", url, "--worker-name", name,
		"--worker-secret", s.credential(t, name),
		"--data", filepath.Join(t.TempDir(), name), "--cpu-slots", "1", "--warm-python", "0", "--ranked-processes", "1",
		"--grace", "2s"}, args...)...)
}

// credential creates a worker's credential for the CPU device in the running server's database.
func (s *site) credential(t *testing.T, name string) string {
	t.Helper()
	store, err := models.Open(t.Context(), models.Config{Dir: s.data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	secret, _, err := store.Fleet.CreateCredential(t.Context(), accounts.User{Name: "test", Role: accounts.RoleAdmin},
		name, []string{"CPU"})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestRemoteWorkerEvaluatesOverTLS(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	cert, key := queuetest.Certificate(t)
	nats := sandboxtest.Addr(t)
	s := startTaskSite(t, "--no-worker", "--nats-listen", nats, "--nats-tls-cert", cert, "--nats-tls-key", key)
	ada := s.person(t, "Ada", accounts.RoleUser)
	id := ada.submit(job.ModeRanked, kernel(""))
	s.startWorker(t, "tls://"+nats, "rack-1", "--nats-tls-ca", cert)
	run := ada.ended(id)
	if err := wantState(run, work.StateDone); err != nil {
		t.Fatal(err)
	}
	if run.Machine == nil || run.Machine.Worker != "rack-1" || run.Machine.SandboxName != "bubblewrap" {
		t.Errorf("machine is %+v", run.Machine)
	}
	wantBoard(t, s, []client.Run{run})
}

func TestWorkerWithAWrongSecretIsTurnedAway(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s, nats := startOpenSite(t)
	s.credential(t, "rack-1")
	w := start(t, "work", "--nats-url", nats, "--worker-name", "rack-1", "--worker-secret", "guessed", "--data",
		t.TempDir())
	select {
	case <-w.done:
	case <-time.After(tier.Patience()):
		t.Fatal("the worker goes on without a credential")
	}
	if code := w.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d:\n%s", code, w.log)
	}
}

// TestVanishedWorkersRunGoesToAnother kills a worker in the middle of a run while another one is connected.
func TestVanishedWorkersRunGoesToAnother(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s, nats := startOpenSite(t)
	ada := s.person(t, "Ada", accounts.RoleUser)
	workers := map[string]*process{}
	for _, name := range []string{"rack-1", "rack-2"} {
		workers[name] = s.startWorker(t, nats, name)
	}
	s.hasSlots(t, 2)
	id := ada.submit(job.ModeTest, kernel("sleep(1);"))
	first := ada.worker(id)
	ada.reach(id, work.StateTesting)
	workers[first].kill()
	vanished := time.Now()
	run := ada.ended(id)
	if err := wantState(run, work.StateDone); err != nil {
		t.Fatal(err)
	}
	if run.Machine.Worker == first || run.Attempts != 2 {
		t.Errorf("evaluated by %s in attempt %d", run.Machine.Worker, run.Attempts)
	}
	// The other worker must start the run within 30 s after the first vanished.
	if took := run.StartedAt.Sub(vanished); took > 30*time.Second {
		t.Errorf("the other worker began after %v", took)
	}
	endsOnce(t, ada, id)
}

// TestStoppingWorkerHandsItsRunToAnotherAndNothingIsLost stops a worker in the middle of a run that would take a minute
// on it, and a second on the other worker.
func TestStoppingWorkerHandsItsRunToAnotherAndNothingIsLost(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s, nats := startOpenSite(t)
	ada := s.person(t, "Ada", accounts.RoleUser)
	first := sandboxtest.FirstUID(t)
	leaving := s.startWorker(t, nats, "rack-1", "--first-uid", strconv.Itoa(first), "--grace", "100ms")
	slow := fmt.Sprintf("if (data.seed == 11) sleep(getuid() >= %d && getuid() < %d ? 60 : 1);", first,
		first+sandboxtest.RangeSize)
	id := ada.submit(job.ModeTest, kernel(slow))
	ada.reach(id, work.StateTesting)
	leaving.stop() // immediately, because the time limit of the stage is running
	s.startWorker(t, nats, "rack-2")
	run := ada.ended(id)
	if err := wantState(run, work.StateDone); err != nil {
		t.Fatal(err)
	}
	if run.Machine.Worker != "rack-2" || run.Attempts != 2 {
		t.Errorf("evaluated by %s in attempt %d", run.Machine.Worker, run.Attempts)
	}
	if code := leaving.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the worker that was stopped in order ended with code %d", code)
	}
	endsOnce(t, ada, id)
	store, err := models.Open(t.Context(), models.Config{Dir: s.data})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if stored, err := store.Work.Run(t.Context(), run.ID); err != nil || stored.Losses != 0 || stored.Retries != 0 {
		t.Errorf("%d losses count of %d, %v", stored.Losses, stored.Retries, err)
	}
	if log := s.log.String(); strings.Contains(log, "taken back") {
		t.Error("the site took an attempt back")
	}
}

// TestWorkerWithoutCompilerTakesNoJobsAndShowsWhy has a worker whose g++ prints a version and compiles nothing.
func TestWorkerWithoutCompilerTakesNoJobsAndShowsWhy(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s, nats := startOpenSite(t)
	ada := s.person(t, "Ada", accounts.RoleUser)
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" != --version ] || exec echo 'g++ without cc1plus'\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "g++"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := s.startWorkerWith(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, nats, "rack-1")
	id := ada.submit(job.ModeTest, kernel("/* waits */"))
	root := s.person(t, "Root", accounts.RoleAdmin)
	tier.WaitFor(t, "the reason on the queue page", func() error {
		devices, err := root.Devices(t.Context())
		if err == nil && (len(devices) != 1 || devices[0].Slots != 0 ||
			!strings.Contains(devices[0].Problem, dir)) {
			err = fmt.Errorf("devices are %+v", devices)
		}
		return err
	})
	if devices, err := ada.Devices(t.Context()); err != nil ||
		!strings.Contains(devices[0].Problem, "failed its self-test (C++") ||
		strings.Contains(devices[0].Problem, dir) {
		t.Errorf("everyone reads %+v, %v", devices, err)
	}
	if log := broken.log.String(); !strings.Contains(log, "failed its self-test and takes no jobs") {
		t.Errorf("its own log says:\n%s", log)
	}
	// The broken worker has failed no run: an intact worker evaluates it.
	s.startWorker(t, nats, "rack-2")
	if err := wantState(ada.ended(id), work.StateDone); err != nil {
		t.Error(err)
	}
}

// worker waits until a worker has taken the submission's run, and returns its name.
func (p person) worker(id int64) string {
	p.t.Helper()
	var name string
	taken := errors.New("taken")
	err := p.Watch(p.t.Context(), id, 0, func(e client.Event) error {
		if e.Detail != nil && e.Detail.Worker != "" {
			name = e.Detail.Worker
			return taken
		}
		return nil
	})
	if !errors.Is(err, taken) {
		p.t.Fatalf("no worker took submission %d: %v", id, err)
	}
	return name
}

// hasSlots waits until n CPU slots accept jobs, which they do after the self-test of their sandbox.
func (s *site) hasSlots(t *testing.T, n int) {
	t.Helper()
	tier.WaitFor(t, fmt.Sprintf("%d CPU slots", n), func() error {
		res, err := http.Get(s.url + "/api/v1/devices")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		var answer struct{ Devices []client.Device }
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			return err
		}
		for _, d := range answer.Devices {
			if d.Device == "CPU" && d.Slots == n {
				return nil
			}
		}
		return fmt.Errorf("there are %+v", answer.Devices)
	})
}
