package runs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/tasks"
)

// Redactor removes the texts of a run that may quote the source, for viewers who may not see it: output of compilers
// and programs. It keeps the kind of a failure. A task's own harness reads the source and could quote it in any text of
// its report, or encode it in numbers. The latter is not prevented, because a malicious author does not need a harness
// to read sources (docs/security.md).
type Redactor struct {
	definition              tasks.Definition
	isReportedByTaskProgram bool // the task's own harness, not Warpboard's, writes the report
}

// NewRedactor returns the Redactor for runs of a task version.
func NewRedactor(def tasks.Definition) Redactor {
	return Redactor{definition: def, isReportedByTaskProgram: harness.HarnessNameOfTask(def) == harness.BundleHarness}
}

// RedactStage removes texts from the result of a stage.
func (h Redactor) RedactStage(r *job.StageResult) {
	r.Stdout, r.Stderr, r.Command, r.Findings = "", "", "", nil
	if r.Failure != nil {
		why := *r.Failure
		why.Stage = r.Stage
		r.Failure = h.RedactFailure(&why)
	}
	switch {
	case h.isReportedByTaskProgram:
		r.ExtraKeys = nil
	case r.Stage == job.StageBuild:
		r.ExtraKeys = numberKernelNames(r.ExtraKeys)
	}
	if !h.isReportedByTaskProgram && r.Stage != job.StageProfile && r.Stage != job.StageSanitize {
		return
	}
	r.Cases = slices.Clone(r.Cases)
	numbers := map[string]string{}
	for i := range r.Cases {
		h.hideCase(r.Stage, &r.Cases[i], numbers)
	}
}

// numberKernelNames returns the compiler's values per kernel (ptxas.KERNEL.registers) with numbers instead of kernel
// names, which come from the source. It removes all other values of a build.
func numberKernelNames(extra map[string]string) map[string]string {
	const compiler = "ptxas."
	numbers, shown := map[string]int{}, map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		at := strings.LastIndexByte(key, '.')
		if !strings.HasPrefix(key, compiler) || at < len(compiler) {
			continue
		}
		kernel := key[len(compiler):at]
		if numbers[kernel] == 0 {
			numbers[kernel] = len(numbers) + 1
		}
		shown[fmt.Sprintf("%skernel %d%s", compiler, numbers[kernel], key[at:])] = extra[key]
	}
	return shown
}

// RedactFailure returns a copy of a failure without texts that may quote the source.
func (h Redactor) RedactFailure(f *job.Failure) *job.Failure {
	if f == nil {
		return nil
	}
	hidden := *f
	hidden.Reason = f.PublicReason()
	if h.isReportedByTaskProgram {
		hidden.Reason = f.KindSentence()
	}
	if hidden.Reason != f.Reason {
		hidden.Reason += " The details are private as long as the source is."
	}
	return &hidden
}

// RedactEvent returns a copy of an event without texts that may quote the source. The original is shared and stays
// unchanged.
func (h Redactor) RedactEvent(e work.RunEvent) work.RunEvent {
	e.Failure = h.RedactFailure(e.Failure)
	if e.Event == nil {
		return e
	}
	shown := *e.Event
	shown.Text = ""
	if shown.Case != nil && (h.isReportedByTaskProgram || shown.Stage == job.StageProfile || shown.Stage == job.StageSanitize) {
		c := *shown.Case
		h.hideCase(shown.Stage, &c, map[string]string{})
		shown.Case = &c
	}
	if shown.EndedStage != nil {
		r := *shown.EndedStage
		h.RedactStage(&r)
		shown.EndedStage = &r
	}
	e.Event = &shown
	return e
}

// hideCase removes texts from the result of a case. It keeps the case's name only if it is that of a case of the task
// or of a compute-sanitizer tool. It replaces the names of kernels by numbers that are the same in all cases of a
// stage.
func (h Redactor) hideCase(stage job.Stage, c *job.CaseResult, numbers map[string]string) {
	c.Kernels = slices.Clone(c.Kernels)
	for i := range c.Kernels {
		name := &c.Kernels[i].Name
		if numbers[*name] == "" {
			numbers[*name] = fmt.Sprintf("kernel %d", len(numbers)+1)
		}
		*name = numbers[*name]
	}
	if c.Message = ""; stage == job.StageSanitize {
		return
	}
	named := func(of tasks.Case) bool { return harness.SpecLine(of.Arguments()) == c.SpecLine }
	if !slices.ContainsFunc(h.definition.Tests, named) && !slices.ContainsFunc(h.definition.Benchmarks, named) {
		c.SpecLine = ""
	}
}
