package profiling

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

const (
	// caseProfileTime bounds the pass of one benchmark case under ncu, and profileTime that of all.
	caseProfileTime = 2 * time.Minute
	profileTime     = 10 * time.Minute
	// maxCells bounds the counters of instructions that a parsed report keeps; some 10 MB of them.
	maxCells = 1 << 20
)

// Request asks for a profile of what was just built, on the slot that it holds.
type Request struct {
	Job     job.Job
	Program toolchain.Program
	Cases   []tasks.Case
	// OnLog sees output as it comes; stream is "stdout" or "stderr". OnCase sees each case as it ends.
	OnLog  func(stream string, text []byte)
	OnCase func(job.CaseResult)
}

// Profile profiles every case in a process of its own. The stage passes when at least one case left
// a report; what went wrong with another is its case's message. Each case leaves the artifacts
// "profile.<case>.json.gz", the report as parsed, and "profile.<case>.ncu-rep.gz", as ncu wrote it.
func (n *Nsight) Profile(ctx context.Context, req Request) (job.StageResult, []job.Artifact, error) {
	result := job.StageResult{Stage: job.StageProfile, Status: job.StatusError, Started: time.Now().UTC()}
	var artifacts []job.Artifact
	end := time.Now().Add(profileTime)
	for i, c := range req.Cases {
		one := job.CaseResult{Index: i, Spec: harness.SpecLine(c), Status: job.StatusError}
		if left := time.Until(end); left <= 0 {
			one.Message = fmt.Sprintf("Not profiled: the cases before took the %s that all may take together.", profileTime)
		} else {
			files, err := n.profileCase(ctx, req, c, min(left, caseProfileTime), &one, &result)
			if err != nil {
				return result, nil, err
			}
			artifacts = append(artifacts, files...)
		}
		if one.Status == job.StatusPass {
			result.Status = job.StatusPass
		}
		result.Cases = append(result.Cases, one)
		req.OnCase(one)
	}
	result.Ended = time.Now().UTC()
	if result.Status != job.StatusPass {
		result.Failure = &job.Failure{Reason: whyNothing(result.Cases)}
	}
	return result, artifacts, ctx.Err()
}

// profileCase profiles one case and notes how that went; its error is an infrastructure error.
func (n *Nsight) profileCase(ctx context.Context, req Request, c tasks.Case, limit time.Duration,
	one *job.CaseResult, stage *job.StageResult) ([]job.Artifact, error) {
	asked := toolchain.StageRequest{
		Mode: harness.Mode(job.StageProfile), Cases: []tasks.Case{c}, Seed: harness.PublicSeed(req.Job.Task), Timeout: limit,
		OnStdout: func(b []byte) { req.OnLog("stdout", b) }, OnStderr: func(b []byte) { req.OnLog("stderr", b) },
	}
	slot := 0
	file, out, why, err := n.collect(ctx, req.Program, asked, func(spec *sandbox.Spec) error {
		spec.Env["POPCORN_NCU"] = "1" // a bundle's own program then opens the range that ncu waits for
		showSource(spec, req.Job)
		slot = spec.Slot
		stage.Command = strings.Join(ncu.Command(n.Tool, spec.Argv, ncu.Options{Report: "/out/" + reportFile}), " ")
		return nil
	}, ncu.Options{})
	if err != nil {
		return nil, err
	}
	stage.Stdout, stage.Stderr = stage.Stdout+out.Stdout, stage.Stderr+out.Stderr
	if why != "" {
		one.Message = why
		return nil, nil
	}
	report, err := n.read(ctx, slot, file)
	if err != nil {
		return nil, err
	}
	if len(report.Kernels) == 0 {
		one.Message = "The report of Nsight Compute could not be read: " + strings.Join(report.Warnings, " ")
		return nil, nil
	}
	keepFewer(report)
	one.Status = job.StatusPass
	return reportArtifacts(one.Index, report, file)
}

// showSource puts the submission where the compiler saw it, so that the report takes it in.
func showSource(spec *sandbox.Spec, j job.Job) {
	for _, f := range j.Task.Files {
		if spec.Files == nil {
			spec.Files = map[string][]byte{}
		}
		if f.IsSubmission() && j.Task.Lang == tasks.LangCUDA {
			spec.Files[f.Name] = j.Sources[f.Name]
		}
	}
}

// keepFewer takes the instructions out of a report that is too large with them.
func keepFewer(report *ncu.Report) {
	lines := 0
	for _, k := range report.Kernels {
		if k.Source != nil {
			lines += len(k.Source.Lines) * max(len(k.Source.Counters), 1)
		}
	}
	if lines <= maxCells {
		return
	}
	for i := range report.Kernels {
		report.Kernels[i].Source = nil
	}
	report.Warnings = append(report.Warnings, "The kernels have more instructions than are kept; the report file has them all.")
}

// reportArtifacts are the files that a profiled case leaves. ncu's own is packed as well: that of a program
// with torch has 7 MB, and three of them would not fit into the result's message; packed it has a twelfth.
func reportArtifacts(index int, report *ncu.Report, file []byte) ([]job.Artifact, error) {
	parsed, err := json.Marshal(report)
	if err != nil {
		return nil, fmt.Errorf("write the parsed report: %w", err)
	}
	var artifacts []job.Artifact
	for _, f := range []struct {
		ending string
		data   []byte
	}{{"json", parsed}, {"ncu-rep", file}} {
		a, err := packed(fmt.Sprintf("profile.%d.%s", index, f.ending), f.data)
		if err != nil {
			return nil, err
		}
		artifacts = append(artifacts, a)
	}
	return artifacts, nil
}

// packed is a file as an artifact, under its name with .gz behind it.
func packed(name string, data []byte) (job.Artifact, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		return job.Artifact{}, fmt.Errorf("pack %s: %w", name, err)
	}
	return job.Artifact{Name: name + ".gz", Type: "application/gzip", Size: int64(b.Len()), Data: b.Bytes()}, nil
}

// whyNothing is the sentence of a stage in which no case left a report.
func whyNothing(cases []job.CaseResult) string {
	if len(cases) == 0 {
		return "The task has no benchmark case that could be profiled."
	}
	return cases[0].Message
}
