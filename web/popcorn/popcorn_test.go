package popcorn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/popcorn/popcorntest"
	"warpboard/web/webtest"
)

func TestPopcornListsLeaderboardsAndGPUsByteByByte(t *testing.T) {
	s := webtest.NewStage(t, "H100-SXM", "CPU")
	hidden := modelstest.Task(t, s.Cfg.Store, s.Creator, "hidden", "CPU")
	s.Hide(hidden)
	for _, c := range []*popcorntest.Client{s.Popcorn(s.User), {Base: s.URL + "/popcorn"}} {
		want := fmt.Sprintf(
			`[{"id":%d,"name":"vectoradd","description":"Vectoradd","creator_id":%d,"deadline":null,"gpu_types":["H100-SXM","CPU"],"task":{"lang":"cpp","tags":[]}}]`, s.Task.ID, s.Creator.ID)
		if got, err := c.Get(t.Context(), "/leaderboards"); err != nil || string(got) != want {
			t.Errorf("leaderboards: %s, %v\nwant %s", got, err, want)
		}
		if list, err := c.Leaderboards(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("as popcorn-cli reads them: %+v, %v", list, err)
		}
		if got, err := c.Get(t.Context(), "/gpus/VectorAdd"); err != nil || string(got) != `["H100-SXM","CPU"]` {
			t.Errorf("GPUs: %s, %v", got, err)
		}
	}
	if list, err := s.Popcorn(s.Creator).Leaderboards(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("the author of a hidden task sees %+v, %v", list, err)
	}
}

func TestPopcornSubmitsAndAsksUntilTheEnd(t *testing.T) {
	s := webtest.NewStage(t, "CPU", "H100-SXM")
	c := s.Popcorn(s.User)
	id, answer, err := c.Accept(t.Context(), "VectorAdd", "h100", "LEADERBOARD", "mine.cpp", []byte("int x;\n"))
	want := fmt.Sprintf(
		`{"status":"accepted","details":{"id":%d},"runner_queue":{"runner":"Warpboard","gpu":"H100-SXM","queued_jobs":1}}`, id)
	if err != nil || string(answer) != want {
		t.Fatalf("accepted: %s, %v\nwant %s", answer, err, want)
	}
	d, err := c.Show(t.Context(), id)
	if err != nil || d.Done || *d.Job.Status != "pending" || *d.RunnerQueue.QueuedJobs != 1 || len(d.Runs) != 0 ||
		d.Code != "int x;\n" || d.UserID != fmt.Sprint(s.User.ID) || d.LeaderboardID != s.Task.ID {
		t.Errorf("while it waits: %+v, %v", d, err)
	}
	s.When(id, s.Passes)
	d, err = c.Show(t.Context(), id)
	if err != nil || !d.Done || *d.Job.Status != "succeeded" || d.Job.Error != nil || d.RunnerQueue != nil ||
		d.FileName != "mine.cpp" {
		t.Errorf("at the end: %+v, %v", d, err)
	}
	var rows []string
	for _, run := range d.Runs {
		score := "none"
		if run.Score != nil {
			score = fmt.Sprint(*run.Score)
		}
		if begin, err := time.Parse(time.RFC3339, *run.StartTime); err != nil || begin.IsZero() {
			t.Errorf("it began %s, %v", *run.StartTime, err)
		}
		rows = append(rows, fmt.Sprintf("%s %t %s %s %t", run.Mode, run.Secret, run.Runner, score, run.Passed))
	}
	if diff := cmp.Diff([]string{"test false H100-SXM none true", "benchmark false H100-SXM none true",
		"leaderboard false H100-SXM 1.2345e-06 true"}, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	report := map[string]string{"check": "pass", "benchmark-count": "1", "benchmark.0.spec": "size: 1024; seed: 2",
		"benchmark.0.status": "pass", "benchmark.0.runs": "100",
		"benchmark.0.mean": "1234.5", "benchmark.0.std": "24.69", "benchmark.0.err": "2.469", "benchmark.0.best": "0",
		"benchmark.0.worst": "0"}
	if diff := cmp.Diff(report, d.Runs[1].Result); diff != "" {
		t.Errorf("the benchmark's report (-want +got):\n%s", diff)
	}
	board, err := (&popcorntest.Client{Base: c.Base}).Get(t.Context(), "/submissions/vectoradd/H100?limit=5&offset=0")
	if want := fmt.Sprintf(`"submission_id":%d,"rank":1,"submission_name":"mine.cpp"`, id); err != nil ||
		!strings.Contains(string(board), want) || !strings.Contains(string(board), `"submission_score":0.0000012345`) {
		t.Errorf("the board: %s, %v", board, err)
	}
}

// TestPopcornSaysWhyAKernelDidNotPass checks the reasons of failed jobs, because popcorn-cli prints nothing else about
// them.
func TestPopcornSaysWhyAKernelDidNotPass(t *testing.T) {
	s := webtest.NewStage(t)
	c := s.Popcorn(s.User)
	reason := func(text string) *job.Failure { return &job.Failure{Stage: job.StageBuild, Reason: text, ExitCode: 1} }
	for name, tt := range map[string]struct {
		end     func(work.Run) work.Effect
		status  string
		message string
		report  map[string]string
	}{
		"wrong": {s.Fails(webtest.PopcornWrong()), "failed", "gave a wrong answer: expected 15, got -7[2J. " + s.URL +
			"/submissions/",
			map[string]string{"check": "fail", "test-count": "1", "test.0.spec": "size: 8; seed: 1",
				"test.0.status": "fail", "test.0.error": "expected 15, got -7",
				"error": webtest.PopcornWrong().Failure.Reason}},
		"does not compile": {s.Fails(job.StageResult{Stage: job.StageBuild, Status: job.StatusError,
			Stderr: "mine.cpp:1", Failure: reason("mine.cpp:1: expected ';'")}), "failed", "expected ';'",
			map[string]string{"check": "fail", "test-count": "0", "error": "mine.cpp:1: expected ';'"}},
		"too slow": {s.Fails(job.StageResult{Stage: job.StageTest, Status: job.StatusTimeout,
			Failure: &job.Failure{Reason: "It took longer than 5 s.", Limit: "wall"}}), "timed_out", "longer than 5 s",
			map[string]string{"check": "fail", "test-count": "0", "error": "It took longer than 5 s."}},
	} {
		t.Run(name, func(t *testing.T) {
			id, _, err := c.Accept(t.Context(), "vectoradd", "CPU", "test", "mine.cpp", []byte("int x;\n"))
			if err != nil {
				t.Fatal(err)
			}
			s.When(id, tt.end)
			d, err := c.Show(t.Context(), id)
			if err != nil || !d.Done || len(d.Runs) != 1 || d.Runs[0].Passed || d.Runs[0].Mode != "test" {
				t.Fatalf("%+v, %v", d, err)
			}
			if *d.Job.Status != tt.status || !strings.Contains(*d.Job.Error, tt.message) {
				t.Errorf("job %s: %q, want %s: %q", *d.Job.Status, *d.Job.Error, tt.status, tt.message)
			}
			if diff := cmp.Diff(tt.report, d.Runs[0].Result); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPopcornListsShowsAndDeletesOnesOwnSubmissions(t *testing.T) {
	s := webtest.NewStage(t)
	c, eve := s.Popcorn(s.User), s.Popcorn(modelstest.Person(t, s.Cfg.Store, "eve", accounts.RoleUser))
	var ids []int64
	for range 3 {
		id, _, err := c.Accept(t.Context(), "vectoradd", "CPU", "leaderboard", "mine.cpp", []byte("int x;\n"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	s.When(ids[0], s.Passes)
	list, err := c.List(t.Context(), "VectorAdd", 0)
	if err != nil || len(list) != 3 || list[0].ID != ids[2] || list[0].Done || !list[2].Done ||
		*list[2].Runs[0].Score != 1.2345e-06 || list[2].Runs[0].GPUType != "CPU" || list[0].Runs[0].Score != nil ||
		list[0].FileName != "mine.cpp" {
		t.Errorf("the list: %+v, %v", list, err)
	}
	if list, err := c.List(t.Context(), "vectoradd", 1); err != nil || len(list) != 1 || list[0].ID != ids[2] {
		t.Errorf("the newest: %+v, %v", list, err)
	}
	if text, err := c.Get(t.Context(), "/user/submissions?limit=1&offset=2"); err != nil ||
		!strings.HasPrefix(string(text), fmt.Sprintf(`[{"id":%d,`, ids[0])) {
		t.Errorf("the oldest: %s, %v", text, err)
	}
	for what, do := range map[string]func() error{
		"show":   func() error { _, err := eve.Show(t.Context(), ids[0]); return err },
		"delete": func() error { _, err := eve.Delete(t.Context(), ids[0]); return err },
	} {
		if err := do(); webtest.Refused(err) != fmt.Sprintf("404 You have no submission %d.", ids[0]) {
			t.Errorf("%s of another's: %v", what, err)
		}
	}
	if answer, err := c.Delete(t.Context(), ids[0]); err != nil || string(answer) != `{"status":"ok"}` {
		t.Errorf("deleted: %s, %v", answer, err)
	}
	if _, err := c.Show(t.Context(), ids[0]); webtest.Refused(err) != fmt.Sprintf("404 There is no submission %d.",
		ids[0]) {
		t.Errorf("after that: %v", err)
	}
	if head, err := s.Cfg.Store.Boards.ReadHead(t.Context(), s.Task.VersionID, "CPU"); err != nil ||
		head.PeopleCount != 0 {
		t.Errorf("the board still has %d people, %v", head.PeopleCount, err)
	}
}
