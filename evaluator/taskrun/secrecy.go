package taskrun

import (
	"fmt"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// secretFilter hides the values of a stage's cases if they are secret. A kernel knows them and could print them, or put
// them into a wrong answer or its exit code. Weakness: it could also encode them in its time (docs/security.md).
type secretFilter struct {
	hasSecretValues bool
	declaredCases   []tasks.Case // cases of the stage, as declared
}

// hiddenOutputText replaces the output of a program.
const hiddenOutputText = "[The output is not shown: values of this run's cases are drawn and secret.]\n"

func (r *Run) newSecretFilter(stage job.Stage) secretFilter {
	if r.Job.DeclaredCases == nil {
		return secretFilter{}
	}
	def := r.Job.Task
	def.Tests, def.Benchmarks = r.Job.DeclaredCases.Tests, r.Job.DeclaredCases.Benchmarks
	return secretFilter{true, harness.StageCases(def, stage)}
}

// hideOutput returns its argument, or nil if the output of the program could reveal secret values.
func (s secretFilter) hideOutput(pass func([]byte)) func([]byte) {
	if s.hasSecretValues {
		return nil
	}
	return pass
}

// hideCaseValues returns a case without values that must stay secret.
func (s secretFilter) hideCaseValues(c job.CaseResult) job.CaseResult {
	if !s.hasSecretValues {
		return trimCaseTexts(c)
	}
	c.Message, c.NumericError, c.SpecLine = "", nil, ""
	if c.Index < len(s.declaredCases) {
		c.SpecLine = s.declaredCases[c.Index].String()
	}
	return trimCaseTexts(c)
}

// removeSecrets removes everything from a stage's result that could reveal values of secret cases.
func (s secretFilter) removeSecrets(r *job.StageResult) {
	if !s.hasSecretValues {
		return
	}
	for i, c := range r.Cases {
		r.Cases[i] = s.hideCaseValues(c)
	}
	for _, text := range []*string{&r.Stdout, &r.Stderr} {
		if *text != "" {
			*text = hiddenOutputText
		}
	}
	r.ExtraKeys, r.MemoryPeak = nil, 0
	if r.Failure != nil {
		r.Failure = s.hideFailure(*r.Failure, r.Cases)
	}
}

// hideFailure returns a failure that has only the kind and the case.
func (s secretFilter) hideFailure(f job.Failure, cases []job.CaseResult) *job.Failure {
	where, wrong := "", false
	for _, c := range cases {
		if c.Status != job.StatusPass {
			where, wrong = fmt.Sprintf("case %d (%s)", c.Index, c.SpecLine), c.Status == job.StatusFail
			break
		}
	}
	f.ExitCode = 0
	reason := f.KindSentence()
	switch {
	case f.IsInfrastructureError: // KindSentence would not name the stage
		reason = "The stage could not be judged."
	case wrong:
		reason = fmt.Sprintf("In %s the answer is wrong.", where)
	case where != "":
		reason = fmt.Sprintf("In %s: %s", where, reason)
	}
	f.Reason = reason + " Its values are drawn and secret, so that no more is shown: a run in mode test draws others, and shows all."
	return &f
}
