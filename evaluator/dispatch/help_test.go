package dispatch

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// site is a store with a task, people and a queue, without the processes that serve them.
type site struct {
	*testing.T
	store *models.Store
	queue *fakeQueue
	seen  *watcher
	ann   accounts.User
	task  catalog.Task
}

func newSite(t *testing.T, s *models.Store, devices ...string) *site {
	owner := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
	return &site{
		T: t, store: s, queue: newFakeQueue(), seen: newWatcher(),
		ann: modelstest.Person(t, s, "Ann", accounts.RoleUser), task: modelstest.Task(t, s, owner, "vectoradd", devices...),
	}
}

func eachSite(t *testing.T, fn func(s *site)) {
	modelstest.Each(t, func(t *testing.T, store *models.Store) { fn(newSite(t, store, "CPU")) })
}

var errCrash = errors.New("killed")

// boot starts the site's processes, and a worker with one slot says which attempts it has. A test
// kills them by going on with others: nothing is stopped in order.
func (s *site) boot(attempts ...string) (*Dispatcher, *Recorder) {
	s.Helper()
	log := slog.New(slog.DiscardHandler)
	d := NewDispatcher(s.store, s.queue, s.seen, log)
	r := NewRecorder(s.store, s.queue, s.seen, d.Wake, log)
	s.beat(r, attempts...)
	return d, r
}

func (s *site) submit() work.Run { return modelstest.Submit(s, s.store, s.ann, s.task)[0] }

func (s *site) beat(r *Recorder, attempts ...string) {
	r.heartbeat(s.Context(), job.Heartbeat{Worker: "w1", Started: time.Now(), Slots: []job.Slot{{Device: "CPU"}}, Attempts: attempts})
}

// pass has the dispatcher look once, a while from now; the worker says the same until then.
func (s *site) pass(d *Dispatcher, in time.Duration) {
	s.Helper()
	s.passAt(d, time.Now().Add(in))
}

func (s *site) passAt(d *Dispatcher, at time.Time) {
	s.Helper()
	at = at.UTC()
	if _, err := s.store.SQL().ExecContext(s.Context(), "update workers set seen_at = $1", at); err != nil {
		s.Fatal(err)
	}
	if err := d.pass(s.Context(), at); err != nil && !errors.Is(err, errCrash) {
		s.Fatal(err)
	}
}

func event(j job.Job, seq int, kind job.EventType, stage job.Stage) job.Event {
	return job.Event{RunID: j.RunID, AttemptID: j.AttemptID, Secret: j.Secret, Seq: seq, Time: time.Now().UTC(), Type: kind, Stage: stage, Worker: "w1"}
}

func (s *site) take() job.Job {
	s.Helper()
	j, ok := s.queue.take()
	if !ok {
		s.Fatal("there is no job in the queue")
	}
	return j
}

// finish records the result that a worker sends for a job whose stages all passed.
func (s *site) finish(r *Recorder, j job.Job, ns float64) {
	s.Helper()
	if err := r.result(s.Context(), result(j, ns)); err != nil {
		s.Fatal(err)
	}
}

func result(j job.Job, ns float64) job.Result {
	return modelstest.Result(work.Attempt{ID: j.AttemptID, RunID: j.RunID, Secret: j.Secret}, ns)
}

// wantRun checks how a run stands.
func (s *site) wantRun(id int64, state work.RunState, attempts int) work.Run {
	s.Helper()
	run, err := s.store.Work.Run(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	if run.State != state || run.Attempts != attempts {
		s.Errorf("run is %s after %d attempts, want %s after %d", run.State, run.Attempts, state, attempts)
	}
	return run
}

// wantBoard checks the scores on the board.
func (s *site) wantBoard(want ...float64) {
	s.Helper()
	page, err := s.store.Boards.Board(s.Context(), s.task.VersionID, "CPU", 0, 10)
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
	if n := s.queue.length(); n != 0 {
		s.Errorf("%d jobs are in the queue, want none", n)
	}
}
