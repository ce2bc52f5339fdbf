package webtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/ncutest"
	"warpboard/evaluator/profiling"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web"
)

const (
	SlowKernel = GoodKernel + "\n// The columns of B are read with a stride.\n"
	ProfiledNS = 9.1e3
)

// WrittenReport is a substitute for ncu's report file: binary data that is larger than any buffer between worker and
// client.
var WrittenReport = bytes.Repeat([]byte("NVR\x00the report\xff"), 100_000)

// ProfiledScene is a scene with two people at the top of the board, whose ranked runs were profiled, and a third whose
// profile failed.
type ProfiledScene struct {
	*Scene
	First, Second, Refused work.Run
}

// NewProfiledScene starts a site with the people, tasks, boards, and runs of a ProfiledScene.
func NewProfiledScene(t testing.TB, changes ...func(*web.Config)) *ProfiledScene {
	t.Helper()
	s := profiled.restore(t, (*ProfiledScene).setProfiled, changes...)
	s.ProfilingWorker()
	s.begin()
	return s
}

// setProfiled adds the people and runs of a ProfiledScene to the store.
func (s *ProfiledScene) setProfiled() {
	s.set()
	s.First = s.Ranked("Linus Ncu", GoodKernel, ProfiledNS, "cuda4")
	s.Second = s.Ranked("Mary Warp", SlowKernel, 1.3*ProfiledNS, "tri")
	s.Refused = s.Ranked("Rosa Refused", GoodKernel, 2*ProfiledNS, "")
}

// ProfilingWorker records a heartbeat of a worker that can profile.
func (s *ProfiledScene) ProfilingWorker() {
	s.T.Helper()
	modelstest.RecordHeartbeat(s.T, s.Cfg.Store, job.Heartbeat{Worker: "rack-8", WorkerStartedAt: time.Now(),
		Slots: []job.Slot{{Device: "H200", CanProfile: true, Machine: job.Machine{Device: "H200",
			DeviceName: "NVIDIA H200"}}}})
}

// Ranked submits a ranked run with compiler statistics and many times for each case, and ends it and the run that
// profiles it. report names the fixture that is the report of the first and last benchmark case. If report is "", the
// driver refused access to the profiler, and there is no report.
func (s *ProfiledScene) Ranked(name, source string, ns float64, report string) work.Run {
	s.T.Helper()
	user, err := s.Cfg.Store.Accounts.SignIn(context.Background(),
		accounts.ProviderSignIn{Provider: "test", Subject: name, Name: name})
	if err != nil {
		s.T.Fatal(err)
	}
	run := s.Submit(user, "H200", source)
	attempt := s.Attempt(run)
	now := time.Now().UTC()
	stage := func(name job.Stage, back, took time.Duration) job.StageResult {
		return job.StageResult{Stage: name, Status: job.StatusPass, StartedAt: now.Add(-back),
			EndedAt: now.Add(took - back)}
	}
	stages := []job.StageResult{stage(job.StageBuild, 7*time.Second, 4*time.Second),
		stage(job.StageTest, 3*time.Second, 400*time.Millisecond),
		stage(job.StageBenchmark, 2500*time.Millisecond, time.Second),
		stage(job.StageRanked, 1400*time.Millisecond, time.Second)}
	stages[0].Stderr = "submission.cu(7): warning #177-D: variable \"left\" was declared but never referenced\n"
	stages[0].ExtraKeys = map[string]string{
		"ptxas._Z4tilePKfS0_Pfi.registers": "64", "ptxas._Z4tilePKfS0_Pfi.smem": "4352",
		"ptxas._Z4tilePKfS0_Pfi.stack":        "0",
		"ptxas._Z4tilePKfS0_Pfi.spill_stores": "24", "ptxas._Z4tilePKfS0_Pfi.spill_loads": "16"}
	stages[2].Cases, stages[3].Cases = s.Repeated(ns), s.Repeated(ns)
	// The end of a run queues its profile, for which a worker must be connected: heartbeats expire after some seconds.
	s.ProfilingWorker()
	s.Record(job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret, Outcome: job.OutcomePassed,
		Stages: stages},
		&work.Score{NS: ns, DeviationNS: ns / 50, StandardErrorNS: ns / 500})
	s.Profile(run, report)
	return run
}

// Repeated returns results of the task's benchmark cases, with a hundred times each. ns is the scale of the times in
// nanoseconds.
func (s *ProfiledScene) Repeated(ns float64) []job.CaseResult {
	version, err := s.Cfg.Store.Catalog.Version(context.Background(), s.Task.VersionID)
	if err != nil {
		s.T.Fatal(err)
	}
	var cases []job.CaseResult
	for i, declared := range version.Definition.Benchmarks {
		mean := 4 * ns * math.Pow(8, float64(i))
		c := job.CaseResult{Index: i, SpecLine: harness.SpecLine(declared), Status: job.StatusPass, Runs: 100,
			Mean:              mean,
			StandardDeviation: mean / 50, StandardError: mean / 500, Best: mean * 0.97, Worst: mean * 1.12, Median: mean * 0.995,
			P95: mean * 1.05}
		for k := range 100 {
			c.Times = append(c.Times, mean*(0.97+0.15*math.Pow(float64(k)/100, 3)))
		}
		cases = append(cases, c)
	}
	return cases
}

// SoftmaxPTX is PTX of a kernel in the report "tri", in the form that Triton writes.
const SoftmaxPTX = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry softmax_row(\n\t.param .u64 softmax_row_param_0\n)\n.reqntid 128\n{\n" +
	"\t.loc\t1 9 20\n\tex2.approx.f32 %f2, %f1;\n\tret;\n}\n\t.file\t1 \"/out/submission.py\"\n"

// Profile ends the profile of a run with a report of the fixtures. If report is "", the driver refused the profiler.
func (s *ProfiledScene) Profile(run work.Run, report string) {
	s.T.Helper()
	if report == "" {
		s.EndProfile(run, nil)
		return
	}
	held := FixtureReport(s.T, report)
	held.AttachPTX(SoftmaxPTX)
	s.EndProfile(run, held)
}

// EndProfile ends the profile of a run with the report held. nil means that the driver refused the profiler.
func (s *ProfiledScene) EndProfile(run work.Run, held *ncu.Report) {
	s.T.Helper()
	profile := modelstest.ProfileRun(s.T, s.Cfg.Store, run)
	attempt := s.Attempt(profile)
	now := time.Now().UTC()
	stage := job.StageResult{Stage: job.StageProfile, Status: job.StatusPass, StartedAt: now,
		EndedAt: now.Add(9 * time.Second)}
	result := job.Result{RunID: profile.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
		Outcome: job.OutcomePassed}
	for _, c := range s.Repeated(1) {
		stage.Cases = append(stage.Cases, job.CaseResult{Index: c.Index, SpecLine: c.SpecLine, Status: job.StatusPass})
	}
	if held != nil {
		ran := profiling.KernelOrigins(held,
			map[string][]byte{"": []byte("@triton.jit\ndef softmax_row(x): pass\n'__global__ void saxpy(int n)'")})
		for _, profiled := range []int{0, 2} {
			stage.Cases[profiled].Kernels = ran
		}
	}
	if held == nil {
		stage.Status = job.StatusError
		stage.Failure = &job.Failure{Reason: "The driver refused access to the GPU's performance counters (ERR_NVGPUCTRPERM)."}
		result.Outcome, result.Failure = job.OutcomeFailed, stage.Failure
	} else {
		stage.Cases[1].Status, stage.Cases[1].Message = job.StatusError,
			"Profiling took longer than its time limit; ncu replays every kernel some forty times."
		stage.ExtraKeys = map[string]string{"profile.2.ncu-rep.gz": "This file of 20.0 MB (packed) was not kept: it is more than a worker can send with the rest of its result."}
		parsed, err := json.Marshal(held)
		if err != nil {
			s.T.Fatal(err)
		}
		packed := Pack(s.T, parsed)
		result.Artifacts = []job.Artifact{
			{Name: "profile.0.json.gz", Type: "application/gzip", Data: packed},
			{Name: "profile.0.ncu-rep.gz", Type: "application/gzip", Data: Pack(s.T, WrittenReport)},
			{Name: "profile.2.json.gz", Type: "application/gzip", Data: packed},
			// This file is not compressed: early workers did not compress such files.
			{Name: "profile.3.ncu-rep", Type: "application/octet-stream", Data: WrittenReport},
		}
	}
	result.Stages = []job.StageResult{{Stage: job.StageBuild, Status: job.StatusPass, StartedAt: now, EndedAt: now,
		FromCache: true}, stage}
	s.Record(result, nil)
}

// FixtureReport parses the output of ncu in the named fixture. With a name such as "cuda4/1" the report has only that
// kernel.
func FixtureReport(t testing.TB, name string) *ncu.Report {
	t.Helper()
	if name, kernel, one := strings.Cut(name, "/"); one {
		report := FixtureReport(t, name)
		at, err := strconv.Atoi(kernel)
		if err != nil {
			t.Fatal(err)
		}
		report.Kernels = report.Kernels[at : at+1]
		return report
	}
	pages := ncu.CSVPages{Version: "Version 2025.3.1.0"}
	for _, page := range []string{"details", "raw", "source"} {
		pages.SetPage(page, ncutest.Page(t, moduleFile(t, "evaluator/ncu/testdata"), name, page))
	}
	return ncu.ParsePages(pages)
}

// Pack compresses data with gzip, as workers compress reports.
func Pack(t testing.TB, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// ProfilePath returns the path of a run's profile.
func ProfilePath(run work.Run) string { return string(views.ProfileURL(run.SubmissionID, run.ID)) }
