package webtest

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
	"warpboard/web"
)

// Scene is a site with people, tasks, boards, and runs in every state that pages show.
type Scene struct {
	*Site
	Admin, Ada accounts.User
	Task       catalog.Task // built-in matrix multiply on H200 and CPU
	Done       work.Run     // Ada's ranked run
	Failed     work.Run     // Ada's run that did not compile
	Wrong      work.Run     // Ada's run with a wrong answer in a test
	Working    work.Run     // Ada's run in its benchmark stage
	Queued     work.Run     // Ada's run that waits in the queue
	Worker     *Worker      // the worker that runs Working
}

// NewScene starts a site with the scene's people, tasks, boards, and runs.
func NewScene(t testing.TB, changes ...func(*web.Config)) *Scene {
	t.Helper()
	s := plain.restore(t, (*ProfiledScene).set, changes...)
	s.begin()
	return s.Scene
}

// set adds the people, tasks, and ended runs of a Scene to the store.
func (s *Scene) set() {
	s.Admin = modelstest.Person(s.T, s.Cfg.Store, "Grace Hopper", accounts.RoleAdmin)
	s.Ada = modelstest.Person(s.T, s.Cfg.Store, "Ada Lovelace", accounts.RoleUser)
	s.Heartbeat()
	s.installTasks()
	s.fillBoard()
	s.Done = s.Submit(s.Ada, "H200", GoodKernel)
	s.Finish(s.Done, 11.91e3)
	s.Failed = s.Submit(s.Ada, "H200", "int main(")
	s.Fail(s.Failed, BuildFailure())
	s.Wrong = s.Submit(s.Ada, "H200", GoodKernel)
	s.Fail(s.Wrong, WrongAnswer())
}

// begin submits two runs for Ada. The worker runs the first while the second waits.
func (s *Scene) begin() {
	s.Heartbeat()
	s.Working = s.Submit(s.Ada, "H200", GoodKernel)
	s.Worker = s.work(s.Working)
	s.Queued = s.Submit(s.Ada, "H200", GoodKernel)
}

// GoodKernel is a correct solution of the scene's task.
const GoodKernel = `#include "task.h"

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

// Heartbeat records a heartbeat of the scene's worker.
func (s *Scene) Heartbeat() {
	machine := job.Machine{Worker: "rack-7", Device: "H200", DeviceName: "NVIDIA H200", UUIDHash: "5f1c09d2ab34",
		Driver: "570.86.15",
		CUDA:   "12.8", CompilerVersion: "nvcc 12.8.93", KernelRelease: "6.8.0", SandboxName: "bubblewrap",
		GPUConditions: map[string]string{"sm_clock": "1980 MHz", "temperature": "41 °C", "throttle": "none"}}
	beat := job.Heartbeat{Worker: "rack-7", WorkerStartedAt: time.Now().Add(-50 * time.Hour), WorkerVersion: "1.4.0",
		Slots: []job.Slot{
			{Index: 0, Device: "H200", Machine: machine, MemoryBytes: 141 << 30, Arch: "90"},
			{Index: 1, Device: "H200", Machine: machine, MemoryBytes: 141 << 30, Arch: "90",
				DisabledReason: "an uncorrectable memory error was reported",
				PublicReason:   "Out of service: an uncorrectable memory error."},
			{Index: 2, Device: "CPU", Machine: job.Machine{Device: "CPU", DeviceName: "Intel Xeon Platinum 8480C"}},
		},
		SelfTestResults: []job.SelfTestResult{
			{Name: "a program runs as its slot's own user", Passed: true, Detail: "uid 60003"},
			{Name: "no network", Passed: true, Detail: "connect: network is unreachable"},
			{Name: "memory is limited", Passed: true, Detail: "killed at 512 MiB"},
		}}
	modelstest.RecordHeartbeat(s.T, s.Cfg.Store, beat)
}

// installTasks installs the built-in tasks. The scene's task, whose boards are filled, is the CUDA matrix multiply.
func (s *Scene) installTasks() {
	examples, err := tasks.Examples()
	if err != nil {
		s.T.Fatal(err)
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
		task, err := s.Cfg.Store.Catalog.CreateTask(context.Background(), s.Admin,
			catalog.NewTask{TaskSettings: settings, Bundle: b})
		if err != nil {
			s.T.Fatal(err)
		}
		if b.Name == "matmul_cuda" {
			s.Task = task
		}
	}
}

// fillBoard adds entries of 60 people with different scores to the task's H200 board.
func (s *Scene) fillBoard() {
	names := []string{"Barbara Liskov", "Edsger Dijkstra", "Frances Allen", "Ken Thompson", "Radia Perlman",
		"Tony Hoare"}
	for i := range 60 {
		name := fmt.Sprintf("kernel-%02d", i)
		if i < len(names) {
			name = names[i]
		}
		user := modelstest.Person(s.T, s.Cfg.Store, name, accounts.RoleUser)
		score := 10.4e3 * (1 + float64((59+i*37)%60)/23)
		s.Finish(s.Submit(user, "H200", GoodKernel), score)
	}
}

// Submit submits a ranked run. It makes each GoodKernel unique, because runs of identical source share a score.
func (s *Scene) Submit(user accounts.User, device, source string) work.Run {
	s.T.Helper()
	if source == GoodKernel {
		source += fmt.Sprintf("// variant %d\n", rand.Uint64())
	}
	_, runs, err := s.Cfg.Store.Submissions.Submit(context.Background(), submissions.NewSubmission{
		User: user, TaskID: s.Task.ID, Devices: []string{device}, Mode: job.ModeRanked, Source: []byte(source),
		Via: "test",
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return runs[0]
}

// Attempt starts an attempt of a run.
func (s *Scene) Attempt(run work.Run) work.Attempt {
	s.T.Helper()
	attempt, err := s.Cfg.Store.Work.StartAttempt(context.Background(), run.WorkRef())
	if err != nil {
		s.T.Fatal(err)
	}
	return attempt
}

// Record stores the result of an attempt, and announces its events and the board's change.
func (s *Scene) Record(result job.Result, score *work.Score) {
	s.T.Helper()
	result.Machine = job.Machine{Worker: "rack-7", Device: "H200", DeviceName: "NVIDIA H200", UUIDHash: "5f1c09d2ab34",
		Driver: "570.86.15",
		CUDA:   "12.8", CompilerVersion: "nvcc 12.8.93", SandboxName: "bubblewrap",
		GPUConditions: map[string]string{"sm_clock": "1980 MHz", "temperature": "41 °C"}}
	result.HarnessName = "warpboard/cu"
	out, err := s.Cfg.Store.Work.RecordResult(context.Background(), result, work.ResultFindings{Score: score})
	if err != nil {
		s.T.Fatal(err)
	}
	for _, e := range out.Events {
		s.Cfg.Hub.RunEvent(e)
	}
	if b := out.ChangedBoard; b != nil {
		s.Cfg.Hub.BoardChanged(b.VersionID, b.Device, b.ChangeNumber)
	}
}

// Finish ends a run with a score, in nanoseconds.
func (s *Scene) Finish(run work.Run, score float64) {
	s.T.Helper()
	s.End(s.Attempt(run), score)
}

// End ends an attempt with a score.
func (s *Scene) End(attempt work.Attempt, score float64) {
	s.T.Helper()
	result := modelstest.Result(attempt, score)
	began := time.Now().Add(-7 * time.Second)
	took := []time.Duration{2700 * time.Millisecond, 410 * time.Millisecond, 1300 * time.Millisecond,
		1350 * time.Millisecond}
	for i := range result.Stages {
		result.Stages[i].StartedAt, result.Stages[i].EndedAt = began, began.Add(took[i])
		began = began.Add(took[i])
	}
	result.Stages[0].Command = "nvcc -O3 -std=c++17 -arch=sm_90 -c submission.cu"
	result.Stages[1].Cases = PassedCases(5)
	result.Stages[2].Cases, result.Stages[3].Cases = TimedCases(score), TimedCases(score*1.01)
	s.Record(result, &work.Score{NS: score, DeviationNS: score / 50, StandardErrorNS: score / 500})
}

// PassedCases returns results of n test cases with correct answers.
func PassedCases(n int) []job.CaseResult {
	cases := make([]job.CaseResult, n)
	for i := range cases {
		cases[i] = job.CaseResult{Index: i, SpecLine: fmt.Sprintf("n: %d; seed: %d", 64<<i, 7*i+3),
			Status: job.StatusPass,
			NumericError: &job.NumericError{Elements: 64 << i, RelativeMax: 5.96e-8, RelativeP99: 5.12e-8, ULPMax: 0.499,
				ULPP99:        0.467,
				WorstPosition: fmt.Sprintf("[%d]", 3<<i), Got: "0.333333343", Want: "0.33333333333333331"}}
	}
	return cases
}

// TimedCases returns results of three benchmark cases. The first takes ns nanoseconds, each other four times as long as
// the one before.
func TimedCases(ns float64) []job.CaseResult {
	cases := make([]job.CaseResult, 3)
	for i := range cases {
		mean := ns * float64(int(1)<<(2*i))
		cases[i] = job.CaseResult{Index: i, SpecLine: fmt.Sprintf("n: %d; seed: %d", 1024<<i, 11*i+1),
			Status: job.StatusPass, Runs: 100,
			Mean: mean, StandardDeviation: mean / 50, StandardError: mean / 500, Best: mean * 0.97, Worst: mean * 1.12, Median: mean * 0.995}
	}
	return cases
}

// Fail ends a run whose submission failed, with the given stages.
func (s *Scene) Fail(run work.Run, stages []job.StageResult) {
	s.T.Helper()
	attempt := s.Attempt(run)
	s.Record(job.Result{
		RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomeFailed,
		Failure: stages[len(stages)-1].Failure, Stages: stages,
	}, nil)
}

// BuildFailure returns the build stage of a source that does not compile.
func BuildFailure() []job.StageResult {
	now := time.Now()
	return []job.StageResult{{
		Stage: job.StageBuild, Status: job.StatusError, StartedAt: now.Add(-2 * time.Second), EndedAt: now,
		Command: "nvcc -O3 -std=c++17 -arch=sm_90 -c submission.cu",
		Stderr:  "submission.cu(3): error: expected a \";\"\n  int row = blockIdx.y * 64 + threadIdx.y\n                                        ^\n\n1 error detected in the compilation of \"submission.cu\".\n",
		Failure: &job.Failure{Reason: "the submission does not compile: submission.cu line 3: expected a \";\"",
			ExitCode: 2},
	}}
}

// WrongAnswer returns the stages of a run whose fourth test case has a wrong answer.
func WrongAnswer() []job.StageResult {
	now := time.Now()
	cases := PassedCases(5)
	cases[3] = job.CaseResult{Index: 3, SpecLine: "n: 512; seed: 24", Status: job.StatusFail,
		Message: "mismatch at (17, 480): expected 128.25, got 127.75\n41 of 262144 elements differ, the largest by 0.5"}
	return []job.StageResult{
		{Stage: job.StageBuild, Status: job.StatusPass, StartedAt: now.Add(-3 * time.Second),
			EndedAt: now.Add(-time.Second), FromCache: true},
		{Stage: job.StageTest, Status: job.StatusFail, StartedAt: now.Add(-time.Second), EndedAt: now, Cases: cases,
			Failure: &job.Failure{Reason: "test case 3 (n: 512; seed: 24) gave a wrong answer: mismatch at (17, 480): expected 128.25, got 127.75", ExitCode: job.ExitFailed}},
	}
}

// work starts a run as a worker does, and reports events until the first of three benchmark cases has ended.
func (s *Scene) work(run work.Run) *Worker {
	w := NewWorker(s.T, s.Site, run)
	now := time.Now()
	w.Say(job.Event{Type: job.EventAttemptStarted})
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageBuild})
	w.Say(job.Event{Type: job.EventStageEnded, Stage: job.StageBuild, EndedStage: &job.StageResult{
		Stage: job.StageBuild, Status: job.StatusPass, StartedAt: now.Add(-4 * time.Second),
		EndedAt: now.Add(-time.Second)}})
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageTest, CaseCount: 5})
	w.Say(job.Event{Type: job.EventStageEnded, Stage: job.StageTest, EndedStage: &job.StageResult{
		Stage: job.StageTest, Status: job.StatusPass, StartedAt: now.Add(-time.Second), EndedAt: now,
		Cases: PassedCases(5)}})
	w.Say(job.Event{Type: job.EventStageStarted, Stage: job.StageBenchmark, CaseCount: 3})
	w.Say(job.Event{Type: job.EventCaseEnded, Stage: job.StageBenchmark, CaseCount: 3, Case: &TimedCases(12e3)[0]})
	w.Log("warming up\n")
	return w
}
