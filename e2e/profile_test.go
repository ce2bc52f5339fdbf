package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu/nsight"
	"warpboard/evaluator/profiling"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/app"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

// profilingSite is a whole site in this process with a worker. Only two parts are replaced: its GPU is the processor of
// this machine, and ncu is a program that prints the pages of a stored real report.
type profilingSite struct {
	t     *testing.T
	url   string
	store *models.Store
	task  catalog.Task
	user  accounts.User
}

func startProfilingSite(t *testing.T) *profilingSite {
	t.Helper()
	s := &profilingSite{t: t, store: modelstest.Open(t)}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg := &app.Config{Addr: sandboxtest.Addr(t), Data: t.TempDir(), NoWorker: true, OpenEvalAPI: "none"}
	s.url = "http://" + cfg.Addr
	q, err := queue.OpenQueue(t.Context(), queue.Config{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return app.ServeSite(ctx, cfg, s.store, q, log) })
	group.Go(func() error {
		if err := profilingWorker(ctx, t, cfg.Data, q, log); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	t.Cleanup(func() {
		stop()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		q.Close()
	})
	s.makeTask()
	return s
}

func profilingWorker(ctx context.Context, t *testing.T, data string, q *queue.Queue, log *slog.Logger) error {
	conn, err := queue.ConnectWorker(ctx, queue.WorkerConfig{Queue: q, Name: "rack-1"})
	if err != nil {
		return err
	}
	defer conn.Close()
	tool, err := installNCU(ctx, filepath.Join(t.TempDir(), "ncu"))
	if err != nil {
		return err
	}
	box := sandbox.New(sandbox.Config{BuildNice: 1, RunDir: filepath.Join(data, "sandbox"),
		FirstUID: sandboxtest.FirstUID(t), Log: log})
	tools := toolchain.FindToolchain(ctx)
	return evaluator.NewWorker(evaluator.Config{
		Name: "rack-1", Conn: conn, Sandbox: box, Toolchain: tools, Log: log,
		Slots:    []device.Slot{{Device: "H200", Name: "NVIDIA H200", Arch: "90"}},
		Builder:  toolchain.NewBuilder(toolchain.Config{Toolchain: tools, Runner: box, ObjectDir: objects, Log: log}),
		Profiler: &profiling.Nsight{Tool: tool, Runner: box},
	}).Run(ctx)
}

// installNCU writes the replacement of ncu, and the report pages that it prints, to a directory.
func installNCU(ctx context.Context, dir string) (nsight.Tool, error) {
	if err := os.CopyFS(dir, os.DirFS("../evaluator/ncu/testdata")); err != nil {
		return nsight.Tool{}, err
	}
	err := os.Rename(filepath.Join(dir, "ncu.sh"), filepath.Join(dir, "ncu"))
	if err := errors.Join(err, os.Chmod(filepath.Join(dir, "ncu"), 0o755)); err != nil {
		return nsight.Tool{}, err
	}
	return nsight.FindTool(ctx, nsight.SearchPaths{PathVariable: dir})
}

// makeTask installs the C++ vector addition for the device, with its first two benchmarks.
func (s *profilingSite) makeTask() {
	s.t.Helper()
	s.user = modelstest.Person(s.t, s.store, "Ann", accounts.RoleAdmin)
	examples, err := tasks.Examples()
	if err != nil {
		s.t.Fatal(err)
	}
	bundle := examples[slices.IndexFunc(examples, func(b *tasks.Bundle) bool { return b.Name == "vectoradd_cpp" })]
	bundle.Definition.Benchmarks = bundle.Definition.Benchmarks[:2]
	s.task, err = s.store.Catalog.CreateTask(s.t.Context(), s.user, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"H200"}}, Bundle: bundle})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *profilingSite) submit(mode job.Mode) work.Run {
	s.t.Helper()
	solutions, err := tasks.ExampleSolutions("vectoradd_cpp")
	if err != nil {
		s.t.Fatal(err)
	}
	right := solutions[slices.IndexFunc(solutions, func(s tasks.Solution) bool { return s.ShouldPass })]
	_, runs, err := s.store.Submissions.Submit(s.t.Context(), submissions.NewSubmission{
		User: s.user, TaskID: s.task.ID, Devices: []string{"H200"}, Mode: mode, Source: right.Source, Via: "test"})
	if err != nil {
		s.t.Fatal(err)
	}
	return runs[0]
}

// ended waits until a run is done, and returns it.
func (s *profilingSite) ended(find func() (work.Run, error)) (run work.Run) {
	s.t.Helper()
	tier.WaitFor(s.t, "the run to end", func() (err error) {
		if run, err = find(); err == nil && !run.State.IsFinal() {
			err = fmt.Errorf("it is %s", run.State)
		}
		return err
	})
	if run.State != work.StateDone {
		s.t.Fatalf("run %d is %s: %+v", run.ID, run.State, run.Failure)
	}
	return run
}

func (s *profilingSite) get(path string) string {
	s.t.Helper()
	res, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v\n%s", path, res.Status, err, text)
	}
	return string(text)
}

func TestAProfileGoesFromTheWorkerToThePage(t *testing.T) {
	tier.Needs(t, tier.Faults)
	s := startProfilingSite(t)
	ranked := s.submit(job.ModeRanked)
	ranked = s.ended(func() (work.Run, error) { return s.store.Work.Run(t.Context(), ranked.ID) })
	board, err := s.store.Boards.Board(t.Context(), ranked.VersionID, "H200", boards.BoardPartQuery{Limit: 1})
	if err != nil || len(board.Standings) != 1 || board.Standings[0].RunID != ranked.ID {
		t.Fatalf("board: %+v, %v", board.Standings, err)
	}
	followed := s.ended(func() (work.Run, error) {
		of, err := s.store.Work.ProfileRuns(t.Context(), ranked)
		return of[ranked.ID], err
	})
	if followed.StartedAt.Before(*ranked.EndedAt) {
		t.Error("the profile did not wait for the ranked result")
	}
	asked := s.submit(job.ModeProfile)
	asked = s.ended(func() (work.Run, error) { return s.store.Work.Run(t.Context(), asked.ID) })
	for _, run := range []work.Run{ranked, asked} {
		for _, c := range []int{0, 1} {
			page := s.get(fmt.Sprintf("/submissions/%d/runs/%d/profile?case=%d", run.SubmissionID, run.ID, c))
			for _, want := range []string{"Speed of light", "kernel 1", "Nsight Compute 2025.3.1.0", "size: "} {
				if !strings.Contains(page, want) {
					t.Errorf("the profile of case %d of run %d has no %q", c, run.ID, want)
				}
			}
		}
	}
	if compared := s.get(fmt.Sprintf("/compare?a=%d&b=%d", ranked.ID, asked.ID)); !strings.Contains(compared,
		"GPU Speed Of Light Throughput") {
		t.Error("the comparison has no sections")
	}
}
