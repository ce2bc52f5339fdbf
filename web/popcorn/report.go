package popcorn

import (
	"fmt"
	"strings"
	"unicode"

	"warpboard/evaluator/job"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/views/format"
)

// Exit codes of KernelBot's evaluation programs.
const (
	exitWrongAnswer = 112 // the answer was wrong
	exitTimeout     = 114
	exitOtherError  = 1
)

// streamResult converts a run to the result in a stream.
func (e runWithResults) streamResult() fullResult {
	f := fullResult{
		Success: e.State == work.StateDone || e.Failure != nil && !e.Failure.IsInfrastructureError,
		Runs:    map[string]evalResult{},
	}
	if !f.Success {
		_, f.Error = failureStatus(e.Run)
	}
	if m := e.Machine; m != nil {
		f.System = systemInfo{GPU: m.DeviceName, DeviceCount: 1, Runtime: "CUDA", Torch: m.Torch, Hostname: m.Worker}
	}
	compiled := e.compilation()
	for _, r := range e.stages.ranStages(e.Mode) {
		if r.Stage == job.StageSecret || r.Stage == job.StageProfile {
			continue
		}
		one := evalResult{Start: r.StartedAt, End: r.EndedAt, Compilation: compiled}
		if compiled == nil || compiled.Success {
			one.Run = runResultOf(r)
		}
		f.Runs[stageName(r.Stage)] = one
	}
	return f
}

// compilation returns the build of the run's program; nil if it has no build stage.
func (e runWithResults) compilation() *compileResult {
	b := e.stages.buildStage()
	if b == nil {
		return nil
	}
	result := &compileResult{
		NVCCFound: true, Success: b.Status == job.StatusPass, Command: b.Command, Stdout: b.Stdout,
		Stderr: b.Stderr, ExitCode: exitCode(*b),
	}
	if e.Machine != nil {
		result.Version = e.Machine.CompilerVersion
	}
	return result
}

func runResultOf(r job.StageResult) *runResult {
	ran := &runResult{Success: r.Status == job.StatusPass || r.Status == job.StatusFail, Passed: r.Status == job.StatusPass, Command: r.Command,
		Stdout: r.Stdout, Stderr: r.Stderr, ExitCode: exitCode(r), Duration: r.EndedAt.Sub(r.StartedAt).Seconds(), Result: map[string]any{}}
	for key, value := range stageLines(r) {
		ran.Result[key] = value
	}
	return ran
}

func exitCode(r job.StageResult) int {
	switch {
	case r.Status == job.StatusPass:
		return 0
	case r.Status == job.StatusTimeout:
		return exitTimeout
	case r.Failure != nil && r.Failure.ExitCode != 0:
		return r.Failure.ExitCode
	case r.Status == job.StatusFail:
		return exitWrongAnswer
	}
	return exitOtherError
}

// resultText returns a run's result as readable text, which popcorn-cli before 1.3.16 prints.
func (p *Popcorn) resultText(sub submissions.Submission, e runWithResults) string {
	var b strings.Builder
	word, why := failureStatus(e.Run)
	if word == "" {
		word = "passed"
	}
	fmt.Fprintf(&b, "Submission %d on %s (%s): %s\n%s\n", sub.ID, e.Device, modeName(e.Mode), word,
		p.submissionURL(sub))
	if why != "" {
		fmt.Fprintf(&b, "\n%s\n", why)
	}
	if built := e.stages.buildStage(); built != nil && built.Status != job.StatusPass && built.Stderr != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(built.Stderr))
	}
	for _, r := range e.stages.ranStages(e.Mode) {
		writeStage(&b, r)
	}
	if e.ScoreNS != nil {
		fmt.Fprintf(&b, "\nScore: %s s\n", format.ExactNumber(secondsFromNS(*e.ScoreNS)))
	}
	if e.HeldReason != "" {
		fmt.Fprintf(&b, "\nThe run is held back from its board: %s\n", e.HeldReason)
	}
	return withoutControls(b.String())
}

// withoutControls removes terminal control sequences from a text, because the task's checker may have written it.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, job.MarkBidiControls(text))
}

func writeStage(b *strings.Builder, r job.StageResult) {
	if len(r.Cases) == 0 || r.Stage == job.StageSecret || r.Stage == job.StageProfile {
		return
	}
	passed := 0
	for _, c := range r.Cases {
		if c.Status == job.StatusPass {
			passed++
		}
	}
	fmt.Fprintf(b, "\n%s: %d of %d passed\n", format.UpperFirst(stageName(r.Stage)), passed, len(r.Cases))
	for _, c := range r.Cases {
		writeCase(b, c)
	}
}

func writeCase(b *strings.Builder, c job.CaseResult) {
	fmt.Fprintf(b, "  %s  %s", verdictText(c.Status == job.StatusPass), c.SpecLine)
	if c.Runs > 0 {
		fmt.Fprintf(b, "  %s", format.Nanoseconds(c.Time()))
		if c.Best > 0 {
			fmt.Fprintf(b, " (best %s, worst %s, %d calls)", format.Nanoseconds(c.Best), format.Nanoseconds(c.Worst), c.Runs)
		}
	}
	if c.Message != "" {
		fmt.Fprintf(b, "  %s", c.Message)
	}
	b.WriteString("\n")
}
