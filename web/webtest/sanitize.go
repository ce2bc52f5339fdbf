package webtest

import (
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
)

// SanitizingWorker records a heartbeat of a worker that has compute-sanitizer.
func (s *Scene) SanitizingWorker() {
	s.T.Helper()
	modelstest.RecordHeartbeat(s.T, s.Cfg.Store, job.Heartbeat{Worker: "rack-9", WorkerStartedAt: time.Now(),
		Slots: []job.Slot{{Device: "H200", CanSanitize: true, Arch: "90",
			Machine: job.Machine{Device: "H200", DeviceName: "NVIDIA H200"}}}})
}

// Sanitized returns the stages of a run in mode sanitize: two tools of compute-sanitizer found errors in GoodKernel,
// and one timed out.
func Sanitized() []job.StageResult {
	now := time.Now()
	stage := job.StageResult{Stage: job.StageSanitize, Status: job.StatusFail, StartedAt: now,
		EndedAt: now.Add(41 * time.Second),
		Command: "compute-sanitizer --tool memcheck /in/runner", Stderr: "==WARPBOARD== compute-sanitizer memcheck\n",
		Cases: []job.CaseResult{
			{Index: 0, SpecLine: "memcheck", Status: job.StatusFail,
				Message: "error: Invalid __global__ write of size 4 bytes in tile(const float *, const float *, float *, int) at submission.cu:12, 28 times"},
			{Index: 1, SpecLine: "synccheck", Status: job.StatusPass},
			{Index: 2, SpecLine: "initcheck", Status: job.StatusTimeout,
				Message: "initcheck did not end within 180 s and was stopped. Tests of smaller inputs take it less time."},
			{Index: 3, SpecLine: "racecheck", Status: job.StatusPass,
				Message: "warning: Race between a write and a read at submission.cu:9 in tile(const float *, const float *, float *, int) at submission.cu:9, 512 times"},
		},
		Findings: []job.Finding{
			{Tool: "memcheck", Message: "Invalid __global__ write of size 4 bytes",
				Detail: "Access is out of bounds and is 1 bytes after the nearest allocation of size 400 bytes",
				Kernel: "tile(const float *, const float *, float *, int)", File: "submission.cu", Line: 12,
				Block: "0,0,0", Thread: "100,0,0", Occurrences: 28},
			{Tool: "memcheck", Message: "Invalid __shared__ read of size 2 bytes",
				Kernel: "void cub::DeviceReduceKernel<cub::Policy, const float *, float *, int, cub::Sum>(const float *, float *, int)", File: "agent_reduce.cuh", Line: 330,
				Block: "3,0,0", Thread: "1,0,0", Occurrences: 1},
			{Tool: "racecheck", IsWarning: true, Message: "Race between a write and a read at submission.cu:9",
				Kernel: "tile(const float *, const float *, float *, int)", File: "submission.cu", Line: 9, Occurrences: 512},
		}}
	stage.Failure = &job.Failure{Reason: "memcheck found an error: Invalid __global__ write of size 4 bytes in tile(const float *, const float *, float *, int) at submission.cu:12, 28 times, and more. initcheck did not end within 180 s and was stopped. Tests of smaller inputs take it less time."}
	return []job.StageResult{{Stage: job.StageBuild, Status: job.StatusPass, StartedAt: now, EndedAt: now, FromCache: true},
		stage}
}
