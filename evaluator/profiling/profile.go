package profiling

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

const (
	// maxCaseProfileTime limits the profile of one benchmark case, and maxProfileTime that of all cases.
	maxCaseProfileTime = time.Minute
	maxProfileTime     = 5 * time.Minute
	// maxInstructionCounters limits the instruction counters in a parsed report. They take about 10 MB.
	maxInstructionCounters = 1 << 20
	// maxCasesPerProcess limits the cases that are profiled in one process, because ncu's output for all of them is
	// parsed at once.
	maxCasesPerProcess = 8
)

// ProfileRequest describes a profile of a built program on its slot.
type ProfileRequest struct {
	Job             job.Job
	Program         toolchain.Program
	Cases           []tasks.Case
	FirstCaseNumber int    // number of Cases[0] among all benchmarks
	PTX             []byte // PTX of the submission, if the build kept it
	// OnLog receives output while the stage runs; stream is "stdout" or "stderr". OnCase receives each ended case.
	OnLog  func(stream string, text []byte)
	OnCase func(job.CaseResult)
}

// profileSession is a profile stage in progress.
type profileSession struct {
	*Nsight
	ProfileRequest
	deadline          time.Time
	oneProcessPerCase bool // profile each remaining case in its own process
	stageResult       job.StageResult
	artifacts         []job.Artifact
}

// Profile profiles all cases in one process of the submission, one after another, because starting Python and torch
// under ncu takes longer than profiling a kernel. If the report cannot be divided into cases, each case gets its own
// process.
//
// The stage passes if at least one case has a report; the other cases have the reason as message. Artifacts are
// "profile.<case>.json.gz", the parsed report of a case, and ncu's own files, such as "profile.0-2.ncu-rep.gz" for
// cases 0 to 2 or "profile.0.ncu-rep.gz" for case 0.
func (n *Nsight) Profile(ctx context.Context, req ProfileRequest) (job.StageResult, []job.Artifact, error) {
	s := &profileSession{Nsight: n, ProfileRequest: req, deadline: time.Now().Add(maxProfileTime)}
	s.stageResult = job.StageResult{Stage: job.StageProfile, Status: job.StatusError, StartedAt: time.Now().UTC()}
	// A bundle's own program may treat several cases differently and does not report their ends. Launches of several
	// processes are announced in any order.
	s.oneProcessPerCase = req.Job.Task.HasOwnHarness || req.Job.Task.MultiGPU || req.Job.ProfileFilter.SelectsByNumber()
	for len(s.stageResult.Cases) < len(req.Cases) {
		if err := s.profileNext(ctx); err != nil {
			return s.stageResult, nil, err
		}
	}
	s.stageResult.EndedAt = time.Now().UTC()
	if s.stageResult.Status != job.StatusPass {
		s.stageResult.Failure = &job.Failure{Reason: noReportReason(s.stageResult.Cases)}
	}
	return s.stageResult, s.artifacts, ctx.Err()
}

// profileNext profiles the next cases and stores the complete ones. The error is an infrastructure error.
func (s *profileSession) profileNext(ctx context.Context) error {
	left := time.Until(s.deadline)
	if left <= 0 {
		return s.storeReport(nil, fmt.Sprintf("Not profiled: the earlier cases used up the %s for all cases.", maxProfileTime))
	}
	first := len(s.stageResult.Cases)
	group := s.Cases[first:min(len(s.Cases), first+maxCasesPerProcess)]
	if s.oneProcessPerCase {
		group = group[:1]
	}
	cutter := newLaunchSplitter(len(group))
	file, report, why, err := s.runCases(ctx, group, min(left, time.Duration(len(group))*maxCaseProfileTime), cutter)
	if err != nil {
		return err
	}
	finished := cutter.judgeCompleted()
	var parts []*ncu.Report
	switch {
	case len(group) == 1 && why == "":
		parts = []*ncu.Report{report}
	case len(group) == 1, report == nil && finished: // all cases would fail for the same reason
		for i := range group {
			if err := s.storeReport(nil, cutter.reasonWithoutProfile(i, why)); err != nil {
				return err
			}
		}
		return nil
	case report != nil:
		parts = cutter.splitReport(report)
	}
	if len(parts) == 0 {
		s.oneProcessPerCase = true
		s.addNote("The cases of this process could not be told apart (%s); each gets a process of its own.", cutter)
	}
	return s.storeReports(s.FirstCaseNumber+first, parts, cutter, file)
}

// addNote adds a line to the stage's output.
func (s *profileSession) addNote(sentence string, args ...any) {
	line := fmt.Sprintf("==WARPBOARD== "+sentence+"\n", args...)
	s.OnLog("stderr", []byte(line))
	s.stageResult.Stderr += line
}

// runCases runs one process over some cases and returns ncu's report file and the parsed report. If report is nil, why
// has the reason.
func (s *profileSession) runCases(
	ctx context.Context, group []tasks.Case, limit time.Duration, seen *launchSplitter,
) (file []byte, report *ncu.Report, why string, err error) {
	asked := toolchain.StageRequest{
		Mode: harness.EvalMode(job.StageProfile), Cases: group, Seed: harness.PublicSeed(s.Job.Task), Timeout: limit,
		OnStdout: func(b []byte) { seen.readOutput(b); s.OnLog("stdout", b) }, OnStderr: func(b []byte) { s.OnLog("stderr", b) },
		OnResultPipe: seen.readJudgeReport,
	}
	began := time.Now()
	slot, options := 0, nsight.Options{
		MaxLaunches: len(group) * nsight.DefaultMaxLaunches,
		Sections:    s.Tool.Sections,
		Filter:      s.Job.ProfileFilter,
	}
	file, out, why, err := s.profileProcess(ctx, s.Program, asked, func(spec *sandbox.Spec) error {
		spec.Env["POPCORN_NCU"] = "1" // makes a bundle's own program open the range that ncu profiles
		mountSource(spec, s.Job)
		slot = spec.SandboxSlot
		options.ReportPath = "/out/" + reportFile
		s.stageResult.Command = strings.Join(nsight.ProfileCommand(s.Tool, spec.Argv, options), " ")
		return nil
	}, options)
	if err != nil {
		return nil, nil, "", err
	}
	s.stageResult.Stdout, s.stageResult.Stderr = s.stageResult.Stdout+out.Stdout, s.stageResult.Stderr+out.Stderr
	if len(file) == 0 || why != "" && len(group) == 1 {
		return nil, nil, why, nil
	}
	profiled := time.Now()
	report, err = s.readReport(ctx, slot, file)
	s.addNote("%d of the cases in one process: %.1f s (%s), and %.1f s to read the report.", len(group), profiled.Sub(began).Seconds(), seen.launchTimesText(), time.Since(profiled).Seconds())
	if why == "" && errors.Is(err, errUnreadableReport) {
		// This is possible, because the program can write to the folder of the report.
		why = "Nsight Compute cannot read the report that it left."
	}
	if err != nil && why != "" && ctx.Err() == nil {
		return nil, nil, why, nil // ncu did not finish
	}
	if err != nil {
		return nil, nil, "", err
	}
	report.AttachPTX(string(slices.Concat(s.PTX, out.Files[ptxFile])))
	return file, report, why, nil
}

// storeReports stores the reports of the cases from first on, except those with a wrong answer, and ncu's file with all
// of them.
func (s *profileSession) storeReports(first int, parts []*ncu.Report, seen *launchSplitter, file []byte) error {
	kernels := 0
	for i, part := range parts {
		why := seen.reasonWithoutProfile(i, "")
		switch {
		case why != "":
		case len(part.Kernels) > 0:
			kernels += len(part.Kernels)
		case len(parts) == 1:
			why = "The report of Nsight Compute could not be read: " + strings.Join(part.Warnings, " ")
		case !s.Job.ProfileFilter.Empty():
			why = nsight.NoKernelMatchedText
		default:
			why = nsight.NoKernelLaunchedText
		}
		if err := s.storeReport(part, why); err != nil {
			return err
		}
	}
	if kernels == 0 {
		return nil
	}
	name := fmt.Sprintf("profile.%d-%d.ncu-rep", first, first+len(parts)-1)
	if len(parts) == 1 {
		name = fmt.Sprintf("profile.%d.ncu-rep", first)
	}
	// ncu's own file is also compressed: for a program with torch it has 7 MB, and a twelfth of that when compressed.
	return s.attachFile(name, file)
}

// storeReport completes the next case with a report, or with the reason why it has none.
func (s *profileSession) storeReport(report *ncu.Report, why string) error {
	index := s.FirstCaseNumber + len(s.stageResult.Cases)
	one := job.CaseResult{
		Index:    index,
		SpecLine: harness.SpecLine(s.Cases[len(s.stageResult.Cases)]),
		Status:   job.StatusError,
		Message:  why,
	}
	if why == "" {
		dropInstructions(report)
		parsed, err := json.Marshal(report)
		if err != nil {
			return fmt.Errorf("write the parsed report: %w", err)
		}
		if err := s.attachFile(fmt.Sprintf("profile.%d.json", index), parsed); err != nil {
			return err
		}
		one.Status, s.stageResult.Status = job.StatusPass, job.StatusPass
		if s.Job.ProfileFilter.Empty() { // with a filter, the list would lack other kernels
			one.Kernels = KernelOrigins(report, submittedFiles(s.Job))
		}
	}
	s.stageResult.Cases = append(s.stageResult.Cases, one)
	s.OnCase(one)
	return nil
}

// attachFile compresses a file and adds it as an artifact with the suffix .gz.
func (s *profileSession) attachFile(name string, data []byte) error {
	a, err := compressedArtifact(name, data)
	s.artifacts = append(s.artifacts, a)
	return err
}

// mountSource mounts the submission at the path that the compiler used, so that the report contains the source.
func mountSource(spec *sandbox.Spec, j job.Job) {
	for _, f := range j.Task.Files {
		if spec.Files == nil {
			spec.Files = map[string][]byte{}
		}
		if f.IsSubmission() && j.Task.Lang == tasks.LangCUDA {
			spec.Files[f.Name] = j.Sources[f.Name]
		}
	}
}

// submittedFiles returns the files of a job that do not belong to its task.
func submittedFiles(j job.Job) map[string][]byte {
	files := maps.Clone(j.Sources)
	for _, f := range j.Task.Files {
		if !f.IsSubmission() {
			delete(files, f.Name)
		}
	}
	return files
}

// dropInstructions removes the instructions from a report with too many counters.
func dropInstructions(report *ncu.Report) {
	lines := 0
	for _, k := range report.Kernels {
		if k.Source != nil {
			lines += len(k.Source.Lines) * max(len(k.Source.Counters), 1)
		}
	}
	if lines <= maxInstructionCounters {
		return
	}
	for i := range report.Kernels {
		report.Kernels[i].Source = nil
	}
	report.Warnings = append(report.Warnings, "The kernels have more instructions than are kept; the report file has them all.")
}

// compressedArtifact returns a compressed file as an artifact with the suffix .gz.
func compressedArtifact(name string, data []byte) (job.Artifact, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		return job.Artifact{}, fmt.Errorf("pack %s: %w", name, err)
	}
	return job.Artifact{Name: name + ".gz", Type: "application/gzip", Size: int64(b.Len()), Data: b.Bytes()}, nil
}

// noReportReason returns the reason why a stage has no report.
func noReportReason(cases []job.CaseResult) string {
	if len(cases) == 0 {
		return "The task has no benchmark case that could be profiled."
	}
	return cases[0].Message
}
