package dispatch

import (
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// site has the store of a site with a task and people, and a fake queue. It runs no processes.
type site struct {
	*testing.T
	store *models.Store
	queue *fakeQueue
	seen  *watcher
	d     *Dispatcher // dispatcher of the last boot
	at    time.Time   // time of the last pass
	held  []string    // attempts whose jobs workers have received
	ann   accounts.User
	task  catalog.Task
}

func newSite(t *testing.T, s *models.Store, devices ...string) *site {
	owner := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
	return &site{
		T: t, store: s, queue: newFakeQueue(), seen: newWatcher(),
		ann:  modelstest.Person(t, s, "Ann", accounts.RoleUser),
		task: modelstest.Task(t, s, owner, "vectoradd", devices...),
	}
}

func eachSite(t *testing.T, fn func(s *site)) {
	modelstest.Each(t, func(t *testing.T, store *models.Store) { fn(newSite(t, store, "CPU")) })
}

// boot creates a dispatcher, and sends it the heartbeat of a worker with one slot and these attempts. A test simulates
// a crash of the site by another boot: nothing of the previous one is shut down.
func (s *site) boot(attempts ...string) *Dispatcher {
	s.Helper()
	d := NewDispatcher(s.store, s.queue, s.seen, slog.New(slog.DiscardHandler))
	d.now = func() time.Time { return s.at }
	s.d, s.at = d, time.Now()
	s.beat(d, attempts...)
	return d
}

func (s *site) submit() work.Run { return modelstest.Submit(s, s.store, s.ann, s.task)[0] }

func (s *site) beat(d *Dispatcher, attempts ...string) (drop []string) {
	s.Helper()
	return s.sync(d, job.Heartbeat{Worker: "w1", WorkerStartedAt: time.Now(), Slots: []job.Slot{{Device: "CPU"}},
		Attempts: attempts})
}

func (s *site) sync(d *Dispatcher, h job.Heartbeat) (drop []string) {
	s.Helper()
	drop, err := d.Sync(s.Context(), h)
	if err != nil {
		s.Fatal(err)
	}
	return drop
}

// tell stores events as if a worker had sent them.
func (s *site) tell(d *Dispatcher, events ...job.Event) {
	s.Helper()
	if _, err := d.StoreEvents(s.Context(), events); err != nil {
		s.Fatal(err)
	}
}

// pass makes one pass of the dispatcher at a later time, as if all workers had just sent their heartbeats again.
func (s *site) pass(d *Dispatcher, in time.Duration) {
	s.Helper()
	s.passAt(d, time.Now().Add(in))
}

func (s *site) passAt(d *Dispatcher, at time.Time) {
	s.Helper()
	s.at = at.UTC()
	if _, err := s.store.SQL().ExecContext(s.Context(), "update workers set seen_at = $1", s.at); err != nil {
		s.Fatal(err)
	}
	if err := d.runPass(s.Context(), s.at); err != nil {
		s.Fatal(err)
	}
}

func event(j job.Job, seq int, kind job.EventType, stage job.Stage) job.Event {
	return job.Event{RunID: j.RunID, AttemptID: j.AttemptID, AttemptSecret: j.AttemptSecret, Number: seq,
		Time: time.Now().UTC(),
		Type: kind, Stage: stage, Worker: "w1"}
}

// take requests a job for worker w1, and fails the test if there is none.
func (s *site) take() job.Job { return s.takeAs("w1") }

func (s *site) takeAs(worker string) job.Job {
	s.Helper()
	j, ok := s.ask(worker)
	if !ok {
		s.Fatalf("there is no job for %s", worker)
	}
	s.held = append(s.held, j.AttemptID)
	return j
}

// ask requests a job for a slot, which is busy if all slots of the device have a job.
func (s *site) ask(worker string) (j job.Job, ok bool) {
	s.Helper()
	live, err := s.store.Work.LiveAttempts(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	workers, err := s.store.Fleet.Workers(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	busy := loadByDevice(nil, live)["CPU"].liveAttempts >= liveSlots(workers, time.Time{}, s.at)["CPU"].AcceptingJobs
	data, err := s.d.Next(s.Context(), job.WorkRequest{Worker: worker, Device: "CPU", IsSlotBusy: busy, Attempts: s.held})
	if err != nil {
		s.Fatal(err)
	}
	if len(data) == 0 {
		return j, false
	}
	if err := json.Unmarshal(data, &j); err != nil {
		s.Fatal(err)
	}
	return j, true
}

// finish stores the result of a job whose stages all passed.
func (s *site) finish(d *Dispatcher, j job.Job, ns float64) {
	s.Helper()
	if err := d.StoreResult(s.Context(), result(j, ns)); err != nil {
		s.Fatal(err)
	}
}

func result(j job.Job, ns float64) job.Result {
	return modelstest.Result(work.Attempt{ID: j.AttemptID, RunID: j.RunID, Secret: j.AttemptSecret}, ns)
}

// wantRun checks the state of a run and the number of its attempts.
func (s *site) wantRun(id int64, state work.RunState, attempts int) work.Run {
	s.Helper()
	run, err := s.store.Work.Run(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	if run.State != state || run.AttemptCount != attempts {
		s.Errorf("run is %s after %d attempts, want %s after %d", run.State, run.AttemptCount, state, attempts)
	}
	return run
}

// wantBoard checks the scores on the board.
func (s *site) wantBoard(want ...float64) {
	s.Helper()
	page, err := s.store.Boards.Board(s.Context(), s.task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10})
	if err != nil {
		s.Fatal(err)
	}
	var have []float64
	for _, st := range page.Standings {
		have = append(have, st.ScoreNS)
	}
	if !slices.Equal(have, want) {
		s.Errorf("board holds %v, want %v", have, want)
	}
}

func (s *site) wantNoJob() {
	s.Helper()
	if j, ok := s.ask("w1"); ok {
		s.Errorf("there is a job: %+v", j)
	}
}
