package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
)

// fakeQueue keeps the promises that the real queue makes: an attempt is in it once, and a result
// comes until it was recorded. It outlives a Dispatcher and a Recorder, as the real one does.
type fakeQueue struct {
	mu        sync.Mutex
	seen      map[string]bool
	jobs      []job.Job // not taken yet
	hints     []job.Preparation
	cancelled []string
	kicked    []string
	forgotten []string
	after     error // Publish fails with it after it has done its work
	before    error // Publish and Prepare fail with it and do nothing

	events  chan job.Event
	results chan job.Result
	beats   chan job.Heartbeat
}

func newFakeQueue() *fakeQueue {
	return &fakeQueue{
		seen: map[string]bool{}, events: make(chan job.Event, 10000), results: make(chan job.Result, 100), beats: make(chan job.Heartbeat, 100),
	}
}

func (q *fakeQueue) Publish(_ context.Context, j job.Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.before != nil {
		return q.before
	}
	if !q.seen[j.AttemptID] {
		q.jobs = append(q.jobs, j)
	}
	q.seen[j.AttemptID] = true
	return q.after
}

func (q *fakeQueue) Prepare(p job.Preparation) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.before == nil {
		q.hints = append(q.hints, p)
	}
	return q.before
}

// hinted lists the hints since the last call, as "task device".
func (q *fakeQueue) hinted() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var names []string
	for _, p := range q.hints {
		names = append(names, p.Name+" "+p.Device)
	}
	q.hints = nil
	return names
}

func (q *fakeQueue) Forget(_ context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forgotten = append(q.forgotten, id)
	q.jobs = slices.DeleteFunc(q.jobs, func(j job.Job) bool { return j.AttemptID == id })
	return nil
}

func (q *fakeQueue) Cancel(_ context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancelled = append(q.cancelled, id)
	return nil
}

func (q *fakeQueue) Kick(worker string) { q.kicked = append(q.kicked, worker) }

// take gives the oldest job to a worker; ok is false when the queue is empty.
func (q *fakeQueue) take() (j job.Job, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return j, false
	}
	j, q.jobs = q.jobs[0], q.jobs[1:]
	return j, true
}

// lose is what a deleted queue directory does.
func (q *fakeQueue) lose() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = nil
}

// forgetIDs is what else a deleted queue directory does: an attempt can be published once more.
func (q *fakeQueue) forgetIDs() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.seen)
}

func (q *fakeQueue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs)
}

func (q *fakeQueue) stopped(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.cancelled, id)
}

func (q *fakeQueue) Events(ctx context.Context, fn func(job.Event)) error {
	return each(ctx, q.events, func(e job.Event) { fn(e) })
}

func (q *fakeQueue) Heartbeats(ctx context.Context, fn func(job.Heartbeat)) error {
	return each(ctx, q.beats, func(h job.Heartbeat) { fn(h) })
}

func (q *fakeQueue) Results(ctx context.Context, fn func(context.Context, job.Result) error) error {
	return each(ctx, q.results, func(r job.Result) {
		if fn(ctx, r) != nil {
			q.results <- r
		}
	})
}

func each[T any](ctx context.Context, from chan T, fn func(T)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case message := <-from:
			fn(message)
		}
	}
}

// watcher remembers what watchers were told, and lets a test wait for it.
type watcher struct {
	mu     sync.Mutex
	events []models.RunEvent
	boards []int64
	states []models.EvaluationState
	told   chan struct{}
}

func newWatcher() *watcher { return &watcher{told: make(chan struct{}, 1)} }

func (w *watcher) note(fn func()) {
	w.mu.Lock()
	fn()
	w.mu.Unlock()
	select {
	case w.told <- struct{}{}:
	default:
	}
}

func (w *watcher) RunEvent(e models.RunEvent) { w.note(func() { w.events = append(w.events, e) }) }
func (w *watcher) QueueChanged()              { w.note(func() {}) }
func (w *watcher) BoardChanged(_ int64, _ string, change int64) {
	w.note(func() { w.boards = append(w.boards, change) })
}

func (w *watcher) EvaluationChanged(e models.Evaluation) {
	w.note(func() { w.states = append(w.states, e.State) })
}

// until waits until the condition holds, looking whenever something was told.
func (w *watcher) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-w.told:
		case <-time.After(20 * time.Millisecond): // not everything is told
		case <-limit:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// site is a store with a task, people and a queue, without the processes that serve them.
type site struct {
	*testing.T
	store *models.Store
	queue *fakeQueue
	seen  *watcher
	ann   models.User
	task  models.Task
}

func newSite(t *testing.T, s *models.Store, devices ...string) *site {
	owner := modelstest.Person(t, s, "Root", models.RoleAdmin)
	return &site{
		T: t, store: s, queue: newFakeQueue(), seen: newWatcher(),
		ann: modelstest.Person(t, s, "Ann", models.RoleUser), task: modelstest.Task(t, s, owner, "vectoradd", devices...),
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

func (s *site) submit() models.Run { return modelstest.Submit(s, s.store, s.ann, s.task)[0] }

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
	return modelstest.Result(models.Attempt{ID: j.AttemptID, RunID: j.RunID, Secret: j.Secret}, ns)
}

// wantRun checks how a run stands.
func (s *site) wantRun(id int64, state models.RunState, attempts int) models.Run {
	s.Helper()
	run, err := s.store.Run(s.Context(), id)
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
	page, err := s.store.Board(s.Context(), s.task.VersionID, "CPU", 0, 10)
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
