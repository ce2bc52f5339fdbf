package modelstest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// FilledBoard identifies the board to which Fill added most submissions.
type FilledBoard struct {
	Task   catalog.Task
	Device string
	Owner  accounts.User
}

const (
	// Both databases limit the parameters of a statement (SQLite 32,766, PostgreSQL 65,535). 500 rows of 27 columns
	// fit.
	fillBatch = 500 // rows per statement
	fillUsers = 12_000
	fillTasks = 50
)

// Fill adds n ranked submissions with one run each to an empty store, a tenth of them to one board, and builds the
// boards. Nine of ten runs are valid. Scores have intervals of all widths, epochs, and a share of the roofline; some
// count together with other runs of the same source, and some are disturbed. It writes rows directly; a million take
// about half a minute. The same n gives the same rows except for dates, because the random numbers have a fixed seed.
func Fill(ctx context.Context, s *models.Store, n int) (FilledBoard, error) {
	out, f, err := fillBase(ctx, s)
	if err != nil {
		return out, fmt.Errorf("filling the store: %w", err)
	}
	for done := 0; done < n; done += fillBatch {
		if err := f.batch(ctx, done, min(fillBatch, n-done)); err != nil {
			return out, fmt.Errorf("filling the store: %w", err)
		}
	}
	// finish runs twice: before the boards are built, which reads all runs, and afterwards.
	if err := errors.Join(f.finish(ctx), s.Boards.RebuildEntries(ctx), f.finish(ctx)); err != nil {
		return out, fmt.Errorf("filling the store: %w", err)
	}
	return out, nil
}

// fillBase creates the tasks and the people. All IDs count from 1, because the store is empty.
func fillBase(ctx context.Context, s *models.Store) (FilledBoard, *filler, error) {
	owner, err := s.Accounts.SignIn(ctx, accounts.ProviderSignIn{
		Provider: "fill",
		Subject:  "owner",
		Name:     "Owner",
		IsAdmin:  true,
	})
	if err != nil {
		return FilledBoard{}, nil, err
	}
	f := &filler{
		s:      s,
		random: rand.New(rand.NewPCG(1, 2)),
		start:  time.Now().UTC().AddDate(0, -6, 0).Truncate(time.Second),
	}
	for i := range fillTasks {
		task, err := s.Catalog.CreateTask(ctx, owner, catalog.NewTask{
			TaskSettings: catalog.TaskSettings{Devices: filledDevices()}, Bundle: Bundle("task" + strconv.Itoa(i)),
		})
		if err != nil {
			return FilledBoard{}, nil, err
		}
		f.tasks = append(f.tasks, task)
	}
	first, _, err := s.Submissions.Submit(ctx, submissions.NewSubmission{
		User: owner, TaskID: f.tasks[0].ID, Devices: []string{"CPU"}, Mode: job.ModeTest, Source: []byte(fillSource),
	})
	f.source = first.SourceHash
	for _, driver := range []string{"570.86.15", "580.95.05"} { // epochs 1 and 2: most have been measured with the newer one
		_, failed := s.SQL().ExecContext(ctx, "insert into epochs (driver, cuda, compiler, torch, triton, harness, seen_at) values ('"+driver+"', '13.0', 'nvcc 13.0.88', '', '', 'h1', '2026-11-01 12:00:00+00:00')")
		err = errors.Join(err, failed)
	}
	return FilledBoard{Task: f.tasks[0], Device: filledDevices()[0], Owner: owner}, f, errors.Join(err, f.people(ctx, owner.CreatedAt))
}

func (f *filler) people(ctx context.Context, at time.Time) error {
	people := inserter{table: "users", columns: []string{"name", "name_key", "role", "created_at", "updated_at"}}
	for i := range fillUsers {
		name := "person" + strconv.Itoa(i)
		people.add(name, name, string(accounts.RoleUser), at, at)
		if people.rows == fillBatch {
			if err := people.flush(ctx, f.s); err != nil {
				return err
			}
		}
	}
	return people.flush(ctx, f.s)
}

const fillSource = "void solve(const float*, float*, int);\n"

func filledDevices() []string { return []string{"H200", "A100", "T4", "L4", "B200", "CPU"} }

type filler struct {
	s      *models.Store
	random *rand.Rand
	tasks  []catalog.Task
	source string // hash of the source that all share
	start  time.Time
}

// batch inserts n submissions and runs with consecutive IDs after the one that fillBase created.
func (f *filler) batch(ctx context.Context, done, n int) error {
	subs := inserter{table: "submissions", columns: []string{"id", "user_id", "task_id", "version_id", "mode", "file_name", "source_hash", "source_key", "via", "created_at"}}
	runs := inserter{table: "runs", columns: []string{"id", "submission_id", "version_id", "user_id", "device", "mode", "state",
		"attempts", "worker", "queued_at", "started_at", "ended_at", "score_ns", "std_ns", "err_ns", "harness",
		"interval_low", "interval_high", "processes", "noisy", "roof", "epoch_id", "clock", "pool_id", "pooled", "disturbed", "scored_at"}}
	samples := inserter{table: "samples", columns: []string{"version_id", "device", "epoch_id", "source_key", "user_id", "run_id", "by_run", "purpose", "unfinished", "why",
		"score_ns", "std_ns", "err_ns", "clock", "interval_low", "interval_high", "processes", "noisy", "roof", "disturbed", "cases", "ended_at"}}
	for i := range n {
		// IDs are explicit, because rows reference each other. fillBase has created submission 1 and run 1.
		id := int64(done + i + 2)
		task, device := f.board()
		at := f.start.Add(time.Duration(id) * 15 * time.Second)
		// Some people submit much more than others: the exponent makes small IDs more likely.
		user := 2 + int64(float64(fillUsers)*math.Pow(f.random.Float64(), 1.5))
		state, ns, half := work.StateDone, math.Exp(f.random.NormFloat64()*0.6)*1e6, 0.02*math.Pow(f.random.Float64(), 3)
		score, low, high, roof := any(ns), any(ns*(1-half)), any(ns*(1+half)), any(min(0.99, 2e5/ns))
		if f.random.IntN(10) == 0 {
			state, score, low, high, roof = work.StateFailed, nil, nil, nil, nil
		}
		pool, pooled, disturbed, key := any(nil), 0, "", strconv.FormatInt(id, 10)
		switch f.random.IntN(20) {
		case 0:
			key = "repeated by " + strconv.FormatInt(user, 10)
			if score != nil {
				pool, pooled = id, 3
			}
		case 1:
			disturbed = "slowed down: power brake"
		}
		subs.add(id, user, task.ID, task.VersionID, string(job.ModeRanked), "submission.cpp", f.source, key, "web", at)
		epoch, processes := 1+min(f.random.IntN(10), 1), 5+f.random.IntN(20)
		runs.add(id, id, task.VersionID, user, device, string(job.ModeRanked), string(state), 1, "w1", at, at, at.Add(4*time.Second), score, 2e4, 2e3, "warpboard/cpp",
			low, high, processes, half > 0.005, roof, epoch, "event", pool, pooled, disturbed, at.Add(4*time.Second))
		if score != nil {
			cases := fmt.Sprintf("[[%g,%g,%g,%g,%g]]", ns*0.998, ns*0.999, ns, ns*1.001, ns*1.002)
			samples.add(task.VersionID, device, epoch, key, user, id, id, "submitted", false, "", ns, 2e4, 2e3, "event",
				low, high, processes, half > 0.005, roof, disturbed, cases, at.Add(4*time.Second))
		}
	}
	return errors.Join(subs.flush(ctx, f.s), runs.flush(ctx, f.s), samples.flush(ctx, f.s))
}

func (f *filler) board() (catalog.Task, string) {
	devices := filledDevices()
	if f.random.IntN(10) == 0 {
		return f.tasks[0], devices[0]
	}
	return f.tasks[f.random.IntN(len(f.tasks))], devices[f.random.IntN(len(devices))]
}

// finish sets PostgreSQL's sequences to the last used IDs, and runs analyze, vacuum, and checkpoint, as PostgreSQL does
// itself within some minutes. Until then it plans without statistics, does not use index-only scans, and its background
// work disturbs measurements.
func (f *filler) finish(ctx context.Context) error {
	statements := []string{"analyze"}
	if f.s.Dialect() == migrations.Postgres {
		statements = []string{"vacuum analyze", "checkpoint"}
		for _, table := range []string{"submissions", "runs"} {
			statements = append(statements, fmt.Sprintf("select setval(pg_get_serial_sequence('%s', 'id'), (select max(id) from %s))", table, table))
		}
	}
	return execAll(ctx, f.s.SQL(), statements)
}

func execAll(ctx context.Context, db *sql.DB, statements []string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// inserter collects rows for one insert statement.
type inserter struct {
	table   string
	columns []string
	rows    int
	args    []any
}

func (in *inserter) add(values ...any) {
	in.rows++
	in.args = append(in.args, values...)
}

func (in *inserter) flush(ctx context.Context, s *models.Store) error {
	if in.rows == 0 {
		return nil
	}
	mark := func(int) string { return "?" } // SQLite also accepts $1, but looks each one up among all others
	if s.Dialect() == migrations.Postgres {
		mark = func(n int) string { return "$" + strconv.Itoa(n) }
	}
	var b strings.Builder
	fmt.Fprintf(&b, "insert into %s (%s) values ", in.table, strings.Join(in.columns, ", "))
	for i := range in.args {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%len(in.columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString(mark(i + 1))
	}
	b.WriteString(")")
	_, err := s.SQL().ExecContext(ctx, b.String(), in.args...)
	in.rows, in.args = 0, nil
	return err
}
