package migrations_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// perKind is how many runs and how many evaluations there are, a sixth of each in each stage of life.
const perKind = 10_000

// What the number of a row says, modulo 6, of where it is in its life.
const (
	waits = iota
	waitsAfterLoss
	inQueue
	worked
	done
	cancelledUnderWorker
)

// A live attempt was made when the row was; @at is that time, @n is perKind.
var workBefore = []string{
	"insert into users (id, name, name_key, role, created_at, updated_at) values (1, 'Ann', 'ann', 'user', @at, @at), (2, 'Ben', 'ben', 'user', @at, @at)",
	"insert into tasks (id, slug, title, owner_id, devices, visibility, version_id, created_at, updated_at) values (1, 'add', 'Add', 1, '[\"CPU\"]', 'public', 1, @at, @at)",
	"insert into task_versions (id, task_id, number, key, lang, definition, created_by, created_at) values (1, 1, 1, 'k', 'cpp', '{}', 1, @at)",
	"insert into blobs (hash, size, data, created_at) values ('h', 1, 'x', @at)",
	`with recursive n(i) as (select 1 union all select i + 1 from n where i < @n)
		insert into submissions (id, user_id, task_id, version_id, mode, file_name, source_hash, created_at)
		select i, 1 + i % 2, 1, 1, 'ranked', 'a.cpp', 'h', @at from n`,
	`with recursive n(i) as (select 1 union all select i + 1 from n where i < @n)
		insert into runs (id, submission_id, version_id, user_id, device, mode, state, attempts, retries, attempt_id, worker, queued_at,
			dispatched_at, started_at, ended_at, failure, score_ns)
		select i, i, 1, 1 + i % 2, 'CPU', 'ranked',
			case i % 6 when 3 then 'testing' when 4 then 'done' when 5 then 'cancelled' else 'queued' end,
			case i % 6 when 0 then 0 else 1 end, case i % 6 when 1 then 1 else 0 end,
			case when i % 6 >= 2 then 'run-' || i else '' end, case when i % 6 in (1, 3, 4, 5) then 'w1' else '' end, @at,
			case when i % 6 >= 2 then @at end, case when i % 6 >= 3 then @at end, case when i % 6 >= 4 then @at end,
			case i % 6 when 1 then '{"reason": "lost"}' end, case i % 6 when 4 then 500 end
		from n`,
	`with recursive n(i) as (select 1 union all select i + 1 from n where i < @n)
		insert into attempts (id, run_id, number, secret, seed, worker, created_at, published_at, taken_at, ended_at, outcome, last_seq, log_bytes)
		select 'run-' || i, i, 1, 'secret-' || i, 7 * i, case i % 6 when 2 then '' else 'w1' end, @at, @at, case when i % 6 <> 2 then @at end,
			case when i % 6 in (1, 4) then @at end, case i % 6 when 1 then 'lost' when 4 then 'done' else '' end, 2, 99
		from n where i % 6 > 0`,
	`with recursive n(i) as (select 1 union all select i + 1 from n where i < @n)
		insert into evaluations (id, user_id, caller, owner, kind, device, request, source_hash, state, change, attempt_id, secret, last_seq,
			retries, worker, created_at, dispatched_at, published_at, taken_at, ended_at, result)
		select 'e' || i, 1 + i % 2, 'token:' || (i % 3), 'user:1', 'evaluate', 'CPU', '{}', 'h',
			case i % 6 when 3 then 'validating' when 4 then 'completed' when 5 then 'cancelled' else 'submitted' end,
			3, case when i % 6 >= 2 then 'eval-' || i else '' end, case when i % 6 >= 2 then 'secret-' || i else '' end, 2,
			case i % 6 when 1 then 1 else 0 end, case when i % 6 in (1, 3, 4, 5) then 'w1' else '' end, @at,
			case when i % 6 >= 2 then @at end, case when i % 6 >= 2 then @at end, case when i % 6 >= 3 then @at end,
			case when i % 6 >= 4 then @at end, case i % 6 when 4 then '{"compiled":true}' end
		from n`,
}

// openBeforeWork makes a database as version 12 left it, with runs and evaluations in the middle of their lives and
// two tables for what is one thing, and opens it with this program.
func openBeforeWork(t *testing.T, cfg models.Config) *models.Store {
	t.Helper()
	db, dialect, _ := openAt(t, cfg)
	if err := upTo(t.Context(), db, dialect, 12); err != nil {
		t.Fatal(err)
	}
	at := "'2026-11-20 10:00:00+00:00'"
	if dialect == migrations.Postgres {
		at = "timestamptz " + at
	}
	for _, statement := range workBefore {
		statement = strings.NewReplacer("@at", at, "@n", fmt.Sprint(perKind)).Replace(statement)
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := models.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestWorkInTheMiddleOfItsLifeGoesOnAfterTheMigration(t *testing.T) {
	for name, cfg := range map[string]models.Config{"sqlite": {Dir: t.TempDir()}, "postgres": {Dir: t.TempDir(), DSN: modelstest.PostgresURL(t)}} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			s := openBeforeWork(t, cfg)
			wantCounts(t, s.SQL())
			wantQueue(t, s)
			for _, kind := range []func(i int) job.Ref{
				func(i int) job.Ref { return job.Ref{RunID: int64(600 + i)} },
				func(i int) job.Ref { return job.Ref{EvaluationID: fmt.Sprintf("e%d", 600+i)} },
			} {
				wantLives(t, s, kind)
			}
			wantNoOrphans(t, s)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// wantCounts compares how much of each kind of row there is with what the rows before say.
func wantCounts(t *testing.T, db *sql.DB) {
	t.Helper()
	share := func(phase int) (n int) {
		for i := 1; i <= perKind; i++ {
			if i%6 == phase {
				n++
			}
		}
		return n
	}
	for question, want := range map[string]int{
		"select count(*) from attempts where run_id is not null":                                                                            perKind - share(waits),
		"select count(*) from attempts where evaluation_id is not null":                                                                     perKind - share(waits),
		"select count(*) from attempts where run_id is not null and ended_at is null":                                                       share(cancelledUnderWorker),
		"select count(*) from attempts where evaluation_id <> '' and ended_at is null":                                                      share(cancelledUnderWorker),
		"select count(*) from attempts where evaluation_id <> '' and outcome = 'done'":                                                      share(done),
		"select count(*) from attempts where run_id > 0 and (seed <> 7 * run_id or log_bytes <> 99 or secret <> 'secret-' || run_id)":       0,
		"select count(*) from attempts where evaluation_id <> '' and outcome <> 'lost' and secret <> 'secret-' || substr(evaluation_id, 2)": 0,
		"select count(*) from runs where ended_at is null and (started_at is not null or attempt_id <> '' or state <> 'queued')":            0,
		"select count(*) from runs where ended_at is null and (losses > 0 or retries <> case id % 6 when 1 then 1 else 0 end)":              0,
		"select count(*) from evaluations where ended_at is null and (started_at is not null or attempt_id <> '' or state <> 'submitted')":  0,
		"select count(*) from attempts where outcome = 'returned'":                                                                          2 * share(worked),
		"select count(*) from evaluations where attempts <> 1":                                                                              share(waits),
	} {
		var got int
		if err := db.QueryRowContext(t.Context(), question).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", question, got, err, want)
		}
	}
}

// wantQueue reads the queue that both kinds are in.
func wantQueue(t *testing.T, s *models.Store) {
	t.Helper()
	next, err := s.Work.NextWork(t.Context(), "CPU", 2*perKind, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	// What was on its way waits again.
	firstRun := slices.IndexFunc(next, func(q work.QueuedWork) bool { return q.RunID > 0 })
	if len(next) != 2*6667 || firstRun != 6667 {
		t.Errorf("%d are next, the first run at %d", len(next), firstRun)
	}
	if live, err := s.Work.LiveAttempts(t.Context()); err != nil || len(live) > 0 {
		t.Errorf("%d live attempts, %v", len(live), err)
	}
}

// wantLives brings one of each phase on, with the secrets and the attempts of before.
func wantLives(t *testing.T, s *models.Store, ref func(phase int) job.Ref) {
	t.Helper()
	old := func(phase int) (string, string) {
		r := ref(phase)
		if r.RunID > 0 {
			return fmt.Sprintf("run-%d", r.RunID), fmt.Sprintf("secret-%d", r.RunID)
		}
		return "eval-" + r.EvaluationID[1:], "secret-" + r.EvaluationID[1:]
	}
	report := func(phase int) job.Result {
		id, secret := old(phase)
		return job.Result{RunID: ref(phase).RunID, EvaluationID: ref(phase).EvaluationID, AttemptID: id, Secret: secret,
			Outcome: job.OutcomeDone, Evaluation: []byte("{}"), Machine: job.Machine{Worker: "w1"}}
	}
	for phase, startable := range map[int]bool{waits: true, waitsAfterLoss: true, inQueue: true, worked: true, done: false, cancelledUnderWorker: false} {
		if _, err := s.Work.StartAttempt(t.Context(), ref(phase)); (err == nil) != startable {
			t.Errorf("%s can be started: %v", ref(phase), err)
		}
	}
	var by string
	r := ref(waitsAfterLoss)
	err := s.SQL().QueryRowContext(t.Context(), "select max(worker) from attempts where outcome = 'lost' and (run_id = $1 or evaluation_id = $2)", r.RunID, r.EvaluationID).Scan(&by)
	if err != nil || by != "w1" {
		t.Errorf("%s was lost by %q, %v", r, by, err)
	}
	for _, phase := range []int{inQueue, worked, done, cancelledUnderWorker} { // of a worker of before
		out, err := s.Work.RecordResult(t.Context(), report(phase), modelstest.Completed())
		if err != nil || out.Accepted {
			t.Errorf("the result of %s: %+v, %v", ref(phase), out, err)
		}
	}
}

// wantNoOrphans deletes a run and an evaluation: what belongs to them goes with them.
func wantNoOrphans(t *testing.T, s *models.Store) {
	t.Helper()
	for _, statement := range []string{"delete from runs where id = 604", "delete from evaluations where id = 'e604'"} {
		if _, err := s.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var left int
	if err := s.SQL().QueryRowContext(t.Context(), "select count(*) from attempts where id in ('run-604', 'eval-604')").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d attempts are left, %v", left, err)
	}
}
