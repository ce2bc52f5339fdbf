package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
)

// scene is a site with people, tasks, boards and runs in every state that a page can show.
type scene struct {
	*testSite
	admin, ada accounts.User
	task       catalog.Task // built-in matrix multiply on H200 and CPU
	done       work.Run     // ada's, ranked
	failed     work.Run     // ada's, did not compile
	wrong      work.Run     // ada's, wrong answer in a test
	working    work.Run     // ada's, in its benchmark
	queued     work.Run     // ada's, waits
	worker     *worker      // has working
	energy     *job.Energy  // of the runs that end from now on
}

func newScene(t testing.TB, changes ...func(*Config)) *scene {
	t.Helper()
	s := plain.restore(t, (*profiledScene).set, changes...)
	s.begin()
	return s.scene
}

// set makes what a scene begins with.
func (s *scene) set() {
	s.admin = modelstest.Person(s.t, s.site.Store, "Grace Hopper", accounts.RoleAdmin)
	s.ada = modelstest.Person(s.t, s.site.Store, "Ada Lovelace", accounts.RoleUser)
	s.heartbeat()
	s.installTasks()
	s.fillBoard()
	s.done = s.submit(s.ada, "H200", goodKernel)
	s.finish(s.done, 11.91e3)
	s.failed = s.submit(s.ada, "H200", "int main(")
	s.fail(s.failed, buildFailure())
	s.wrong = s.submit(s.ada, "H200", goodKernel)
	s.fail(s.wrong, wrongAnswer())
}

// begin has the worker at work on one run while another waits.
func (s *scene) begin() {
	s.heartbeat()
	s.working = s.submit(s.ada, "H200", goodKernel)
	s.worker = s.work(s.working)
	s.queued = s.submit(s.ada, "H200", goodKernel)
}

const goodKernel = `#include "task.h"

// One block per tile; each thread keeps an 8 x 8 corner of C in registers.
__global__ void tile(const float* a, const float* b, float* c, int n) {
    __shared__ float left[64][17];
    int row = blockIdx.y * 64 + threadIdx.y;
    for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        __syncthreads();
    }
    c[row * n + threadIdx.x] = 0.0f;
}
`

func (s *scene) heartbeat() {
	machine := job.Machine{Worker: "rack-7", Device: "H200", Name: "NVIDIA H200", UUIDHash: "5f1c09d2ab34", Driver: "570.86.15",
		CUDA: "12.8", Compiler: "nvcc 12.8.93", Kernel: "6.8.0", Sandbox: "bubblewrap",
		Conditions: map[string]string{"sm_clock": "1980 MHz", "temperature": "41 °C", "throttle": "none"}}
	beat := job.Heartbeat{Worker: "rack-7", Started: time.Now().Add(-50 * time.Hour), Version: "1.4.0",
		Slots: []job.Slot{
			{Index: 0, Device: "H200", Machine: machine, Memory: 141 << 30, Arch: "90"},
			{Index: 1, Device: "H200", Machine: machine, Memory: 141 << 30, Arch: "90", Disabled: "an uncorrectable memory error was reported", Public: "Out of service: an uncorrectable memory error."},
			{Index: 2, Device: "CPU", Machine: job.Machine{Device: "CPU", Name: "Intel Xeon Platinum 8480C"}},
		},
		SelfTest: []job.CheckLine{
			{Name: "a program runs as its slot's own user", OK: true, Detail: "uid 60003"},
			{Name: "no network", OK: true, Detail: "connect: network is unreachable"},
			{Name: "memory is limited", OK: true, Detail: "killed at 512 MiB"},
		}}
	modelstest.Heard(s.t, s.site.Store, beat)
}

// installTasks makes the built-in tasks; the one with boards is the CUDA matrix multiply.
func (s *scene) installTasks() {
	examples, err := tasks.Examples()
	if err != nil {
		s.t.Fatal(err)
	}
	soon := time.Now().Add(11 * 24 * time.Hour).Truncate(time.Hour)
	past := time.Now().Add(-40 * 24 * time.Hour).Truncate(time.Hour)
	for _, b := range examples {
		settings := catalog.TaskSettings{Devices: []string{"H200", "CPU"}}
		switch b.Name {
		case "matmul_cuda":
			settings.Deadline = &soon
		case "prefixsum_cuda":
			settings.Deadline = &past
		case "vectoradd_cpp", "matmul_cpp", "prefixsum_cpp":
			settings.Devices = []string{"CPU"}
		}
		task, err := s.site.Store.Catalog.CreateTask(context.Background(), s.admin, catalog.NewTask{TaskSettings: settings, Bundle: b})
		if err != nil {
			s.t.Fatal(err)
		}
		if b.Name == "matmul_cuda" {
			s.task = task
		}
	}
}

// fillBoard puts 60 people on the task's H200 board, each later one slower or faster than those before.
func (s *scene) fillBoard() {
	names := []string{"Barbara Liskov", "Edsger Dijkstra", "Frances Allen", "Ken Thompson", "Radia Perlman", "Tony Hoare"}
	for i := range 60 {
		name := fmt.Sprintf("kernel-%02d", i)
		if i < len(names) {
			name = names[i]
		}
		user := modelstest.Person(s.t, s.site.Store, name, accounts.RoleUser)
		score := 10.4e3 * (1 + float64((59+i*37)%60)/23)
		s.finish(s.submit(user, "H200", goodKernel), score)
	}
}

// submit makes a ranked submission; goodKernel is another source each time, which is not pooled with the others.
func (s *scene) submit(user accounts.User, device, source string) work.Run {
	s.t.Helper()
	if source == goodKernel {
		source += fmt.Sprintf("// variant %d\n", rand.Uint64())
	}
	_, runs, err := s.site.Store.Submissions.Submit(context.Background(), submissions.NewSubmission{
		User: user, TaskID: s.task.ID, Devices: []string{device}, Mode: job.ModeRanked, Source: []byte(source), Via: "test",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return runs[0]
}

func (s *scene) attempt(run work.Run) work.Attempt {
	s.t.Helper()
	attempt, err := s.site.Store.Work.StartAttempt(context.Background(), run.Ref())
	if err != nil {
		s.t.Fatal(err)
	}
	return attempt
}

func (s *scene) record(result job.Result, score *work.Score) {
	s.t.Helper()
	result.Machine = job.Machine{Worker: "rack-7", Device: "H200", Name: "NVIDIA H200", UUIDHash: "5f1c09d2ab34", Driver: "570.86.15",
		CUDA: "12.8", Compiler: "nvcc 12.8.93", Sandbox: "bubblewrap", Energy: s.energy, Conditions: map[string]string{"sm_clock": "1980 MHz", "temperature": "41 °C"}}
	result.Harness = "warpboard/cu"
	out, err := s.site.Store.Work.RecordResult(context.Background(), result, work.Findings{Score: score})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range out.Events {
		s.site.Hub.RunEvent(e)
	}
	if b := out.Board; b != nil {
		s.site.Hub.BoardChanged(b.VersionID, b.Device, b.Change)
	}
}

// finish ends a run with a score, in nanoseconds.
func (s *scene) finish(run work.Run, score float64) {
	s.t.Helper()
	s.end(s.attempt(run), score)
}

func (s *scene) end(attempt work.Attempt, score float64) {
	s.t.Helper()
	result := modelstest.Result(attempt, score)
	began := time.Now().Add(-7 * time.Second)
	took := []time.Duration{2700 * time.Millisecond, 410 * time.Millisecond, 1300 * time.Millisecond, 1350 * time.Millisecond}
	for i := range result.Stages {
		result.Stages[i].Started, result.Stages[i].Ended = began, began.Add(took[i])
		began = began.Add(took[i])
	}
	result.Stages[0].Command = "nvcc -O3 -std=c++17 -arch=sm_90 -c submission.cu"
	result.Stages[1].Cases = testCases(5)
	result.Stages[2].Cases, result.Stages[3].Cases = timedCases(score), timedCases(score*1.01)
	s.record(result, &work.Score{NS: score, StdNS: score / 50, ErrNS: score / 500})
}

func testCases(n int) []job.CaseResult {
	cases := make([]job.CaseResult, n)
	for i := range cases {
		cases[i] = job.CaseResult{Index: i, Spec: fmt.Sprintf("n: %d; seed: %d", 64<<i, 7*i+3), Status: job.StatusPass,
			Numerics: &job.Numerics{Elements: 64 << i, RelativeMax: 5.96e-8, RelativeP99: 5.12e-8, ULPMax: 0.499, ULPP99: 0.467,
				Worst: fmt.Sprintf("[%d]", 3<<i), Got: "0.333333343", Want: "0.33333333333333331"}}
	}
	return cases
}

func timedCases(ns float64) []job.CaseResult {
	cases := make([]job.CaseResult, 3)
	for i := range cases {
		mean := ns * float64(int(1)<<(2*i))
		cases[i] = job.CaseResult{Index: i, Spec: fmt.Sprintf("n: %d; seed: %d", 1024<<i, 11*i+1), Status: job.StatusPass, Runs: 100,
			Mean: mean, Std: mean / 50, Err: mean / 500, Best: mean * 0.97, Worst: mean * 1.12, Median: mean * 0.995}
	}
	return cases
}

// fail ends a run by its submission's fault, with these stages.
func (s *scene) fail(run work.Run, stages []job.StageResult) {
	s.t.Helper()
	attempt := s.attempt(run)
	s.record(job.Result{
		RunID: run.ID, AttemptID: attempt.ID, Secret: attempt.Secret, Outcome: job.OutcomeFailed,
		Failure: stages[len(stages)-1].Failure, Stages: stages,
	}, nil)
}

func buildFailure() []job.StageResult {
	now := time.Now()
	return []job.StageResult{{
		Stage: job.StageBuild, Status: job.StatusError, Started: now.Add(-2 * time.Second), Ended: now,
		Command: "nvcc -O3 -std=c++17 -arch=sm_90 -c submission.cu",
		Stderr:  "submission.cu(3): error: expected a \";\"\n  int row = blockIdx.y * 64 + threadIdx.y\n                                        ^\n\n1 error detected in the compilation of \"submission.cu\".\n",
		Failure: &job.Failure{Reason: "the submission does not compile: submission.cu line 3: expected a \";\"", ExitCode: 2},
	}}
}

func wrongAnswer() []job.StageResult {
	now := time.Now()
	cases := testCases(5)
	cases[3] = job.CaseResult{Index: 3, Spec: "n: 512; seed: 24", Status: job.StatusFail,
		Message: "mismatch at (17, 480): expected 128.25, got 127.75\n41 of 262144 elements differ, the largest by 0.5"}
	return []job.StageResult{
		{Stage: job.StageBuild, Status: job.StatusPass, Started: now.Add(-3 * time.Second), Ended: now.Add(-time.Second), Cached: true},
		{Stage: job.StageTest, Status: job.StatusFail, Started: now.Add(-time.Second), Ended: now, Cases: cases,
			Failure: &job.Failure{Reason: "test case 3 (n: 512; seed: 24) gave a wrong answer: mismatch at (17, 480): expected 128.25, got 127.75"}},
	}
}

// work begins a run as a worker would: it is built and tested, and has run one of three benchmark cases.
func (s *scene) work(run work.Run) *worker {
	w := newWorker(s.t, s.testSite, run)
	now := time.Now()
	w.say(job.Event{Type: job.EventTaken})
	w.say(job.Event{Type: job.EventStage, Stage: job.StageBuild})
	w.say(job.Event{Type: job.EventEnded, Stage: job.StageBuild, Ended: &job.StageResult{
		Stage: job.StageBuild, Status: job.StatusPass, Started: now.Add(-4 * time.Second), Ended: now.Add(-time.Second)}})
	w.say(job.Event{Type: job.EventStage, Stage: job.StageTest, Total: 5})
	w.say(job.Event{Type: job.EventEnded, Stage: job.StageTest, Ended: &job.StageResult{
		Stage: job.StageTest, Status: job.StatusPass, Started: now.Add(-time.Second), Ended: now, Cases: testCases(5)}})
	w.say(job.Event{Type: job.EventStage, Stage: job.StageBenchmark, Total: 3})
	w.say(job.Event{Type: job.EventCase, Stage: job.StageBenchmark, Total: 3, Case: &timedCases(12e3)[0]})
	w.log("warming up\n")
	return w
}
