package verify

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
	"warpboard/tasks"
	"warpboard/tasks/mutants"
	"warpboard/tasks/parse"
	"warpboard/views/format"
)

// verifier checks tasks in sequence, with one worker on this machine and one solution at a time: concurrent solutions
// would change each other's times.
type verifier struct {
	options    verifyOptions
	env        console.Environment
	path       string
	lineOutput io.Writer         // prints the report as lines
	worker     *evaluator.Worker // nil until first use
	slots      []device.Slot
	cpuSlots   int // CPU slots of the worker

	report verifyReport
	problemCounts
}

// problemCounts count what is wrong in one round of checks.
type problemCounts struct{ refusedTasks, brokenTasks, solutions, unexpectedVerdicts int }

// verifyTask reports on one task and runs its solutions.
func (v *verifier) verifyTask(ctx context.Context, upload *tasks.Upload, p tasks.TaskProposal) error {
	report := &taskReport{Name: p.Name, Folder: p.Folder, UploadRefused: p.Err != nil}
	v.report.Tasks = append(v.report.Tasks, report)
	if p.Err != nil {
		v.refusedTasks++
		fmt.Fprintf(v.lineOutput, "%s: refused\n", p.Name)
		wrong := parse.ProblemsFromError(p.Err)
		if wrong == nil {
			wrong = []parse.Problem{{Message: p.Err.Error()}}
		}
		report.Problems = v.printProblems("  ", wrong)
		return nil
	}
	v.printTask(p, report)
	if v.options.lintOnly {
		return nil
	}
	// A correct solution must pass a ranked run, which requires a benchmark: without one, each solution would seem to
	// fail.
	if d := p.Bundle.Definition; d.Protocol == tasks.ProtocolEval && len(d.Benchmarks) == 0 {
		v.brokenTasks++
		report.Problems = v.printProblems("  ", []parse.Problem{{File: path.Join(p.Folder, tasks.TaskFile), Key: "benchmarks",
			Message: "there is none, so no solution can be ranked: add a case like benchmarks: [{size: 1024, seed: 1}]"}})
		return nil
	}
	solutions, err := v.solutionsOf(upload, p)
	if err != nil {
		return err
	}
	if len(solutions) == 0 {
		fmt.Fprintln(v.lineOutput, "  nothing to run: there is no solutions/correct or solutions/wrong")
		return nil
	}
	slot, err := v.slotFor(ctx, p)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	report.Device = slot.Device
	return v.runSolutions(ctx, p.Bundle, slot, solutions, report)
}

// solutionsOf returns the solutions in a task and in --solution.
func (v *verifier) solutionsOf(upload *tasks.Upload, p tasks.TaskProposal) ([]tasks.Solution, error) {
	list, err := upload.Solutions(p.Folder)
	if err != nil {
		return nil, err
	}
	for _, file := range v.options.solutionFiles {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--solution: %w", err)
		}
		list = append(list, tasks.Solution{Name: file, ShouldPass: true, Source: source})
	}
	return list, nil
}

// solutionResult is a solution with its result.
type solutionResult struct {
	tasks.Solution
	job.Result
}

// runSolutions runs the solutions of a task. A wrong solution that failed for another reason than a wrong output is
// judged last, because the other solutions show whether the task works.
func (v *verifier) runSolutions(
	ctx context.Context, b *tasks.Bundle, slot device.Slot, solutions []tasks.Solution, report *taskReport,
) error {
	works := false
	var passed *tasks.Solution
	var undecided []solutionResult
	for _, s := range solutions {
		if err := b.CheckFiles(s.Submission().Names()); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		result, err := v.run(ctx, b, slot, s.Name, s.Submission(), job.ModeRanked)
		if err != nil {
			return err
		}
		if s.ShouldPass && result.Outcome == job.OutcomePassed && passed == nil {
			passed = &s
		}
		shows := solutionTrial(solutionResult{s, result}).ShowsTaskWorks()
		// A detected wrong output shows that the task can be built and run, as a pass of a correct solution does.
		if works = works || shows; !s.ShouldPass && !shows {
			undecided = append(undecided, solutionResult{s, result})
			continue
		}
		v.judgeSolution(solutionResult{s, result}, works, report)
	}
	for _, s := range undecided {
		v.judgeSolution(s, works, report)
	}
	if report.ShownToWork = &works; !works {
		v.brokenTasks++
		fmt.Fprintln(v.lineOutput, "  the task itself may be at fault: no solution passed, and no answer was found wrong")
	}
	if passed != nil && b.Definition.Lang == tasks.LangPython {
		return v.runTrivialAnswers(ctx, b, slot, *passed, report)
	}
	return nil
}

// runTrivialAnswers reports which trivial outputs pass the tests of a task.
func (v *verifier) runTrivialAnswers(
	ctx context.Context, b *tasks.Bundle, slot device.Slot, correct tasks.Solution, report *taskReport,
) error {
	for _, t := range mutants.TrivialAnswers() {
		result, err := v.run(ctx, b, slot, t.Name, t.ReplaceOutputs(correct.Submission()), job.ModeTest)
		if err != nil {
			return err
		}
		if result.Outcome == job.OutcomePassed {
			report.PassingTrivialAnswers = append(report.PassingTrivialAnswers, t.Name)
			warning := fmt.Sprintf("The tests pass %s in place of every answer: choose a smaller tolerance, or inputs that make a difference.", t.Name)
			report.Warnings = append(report.Warnings, warning)
			fmt.Fprintln(v.lineOutput, "  warning:", warning)
		}
	}
	return nil
}

// slotFor returns the slot for a task. It creates a worker at the first call, and for a task that needs more CPU slots
// than the worker has.
func (v *verifier) slotFor(ctx context.Context, p tasks.TaskProposal) (device.Slot, error) {
	// The first task needs at least one slot, so there is a worker afterwards. The previous worker needs no cleaning
	// up, because it has no goroutines.
	if need := p.Bundle.Definition.WorldSize(); need > v.cpuSlots {
		v.cpuSlots = need
		settings := v.options.machine
		settings.CPUSlots = v.cpuSlots
		config, _, err := DetectMachine(ctx, settings)
		if err != nil {
			return device.Slot{}, err
		}
		config.Name, config.Conn, config.MeasureConfig.MaxProcesses = "verify", evaluator.NopConn{}, v.options.processes
		v.worker, v.slots = evaluator.NewWorker(config), config.Slots
	}
	return chooseSlot(v.slots, p, v.options.device)
}

func chooseSlot(slots []device.Slot, p tasks.TaskProposal, want string) (device.Slot, error) {
	onCPU := p.Bundle.Definition.Lang == tasks.LangCPP || slices.Contains(p.GPUs, device.CPU)
	var names []string
	for _, s := range slots {
		if !slices.Contains(names, s.Device) {
			names = append(names, s.Device)
		}
		suits := s.Device == want
		if want == "" {
			suits = (s.Device == device.CPU) == onCPU
		}
		if suits {
			return s, nil
		}
	}
	if want != "" {
		return device.Slot{}, fmt.Errorf("there is no device %s on this machine, which has %s", want, strings.Join(names, ", "))
	}
	return device.Slot{}, errors.New("its solutions need a GPU, and this machine has none: check only the files with --lint, or use --device CPU")
}

func (v *verifier) run(
	ctx context.Context, b *tasks.Bundle, slot device.Slot, name string, s tasks.Submission, mode job.Mode,
) (job.Result, error) {
	sources, err := b.ProgramFiles(s)
	if err != nil {
		return job.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return job.Result{}, err
	}
	return v.worker.Evaluate(ctx, job.Job{
		// The seed belongs to this process: inputs differ from those on the site, as they do between two runs there.
		MessageVersion: job.MessageVersion, AttemptID: rand.Text(), Device: slot.Device, Mode: mode,
		TaskHash: b.ContentHash(), Task: b.Definition.WithFiles(s.Names()).ForDevice(slot.Device).DrawValues(seed[:]),
		Sources:    sources,
		SecretSeed: binary.LittleEndian.Uint64(seed[:]), EnqueuedAt: time.Now(),
	})
}

// judgeSolution prints the result of a solution, and whether it is the expected one. works is true if the task can be
// built and run; if it is false, a wrong solution may have failed because of the task.
func (v *verifier) judgeSolution(s solutionResult, works bool, report *taskReport) {
	v.solutions++
	kind := "wrong"
	if s.ShouldPass {
		kind = "correct"
	}
	out := solutionReport{
		Name: s.Name, Correct: s.ShouldPass, Outcome: s.Outcome, Verdict: verdictOf(solutionTrial(s), works),
		ScoreNS: s.ScoreNS, Reason: failureReason(s.Result),
	}
	if n := len(s.Stages); n > 0 && s.Outcome != job.OutcomePassed {
		out.Stage = s.Stages[n-1].Stage
		out.Stderr = lastOutputLines(s.Stages[n-1].Stderr)
	}
	if out.Verdict != verdictAsExpected {
		v.unexpectedVerdicts++
	}
	report.Solutions = append(report.Solutions, out)
	fmt.Fprintf(v.lineOutput, "  %-8s %-28s %-7s %-16s %s\n", kind, s.Name, s.Outcome, out.Verdict.displayText(), out.Reason)
	if out.Verdict != verdictAsExpected {
		for line := range strings.Lines(console.RemoveControlCharacters(out.Stderr)) {
			fmt.Fprintf(v.lineOutput, "    | %s\n", strings.TrimRight(line, "\n"))
		}
	}
}

// maxErrorLines limits the lines of stderr that are printed for a solution: enough for a traceback with its cause.
const maxErrorLines = 30

// lastOutputLines returns the last lines of the output of a program.
func lastOutputLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-maxErrorLines):], "\n")
}

func verdictOf(e job.SolutionTrial, works bool) solutionVerdict {
	switch {
	case e.HasExpectedVerdict(works):
		return verdictAsExpected
	case !e.ShouldPass && e.Outcome == job.OutcomeFailed:
		return verdictNotJudged
	}
	return verdictNotAsExpected
}

func solutionTrial(s solutionResult) job.SolutionTrial {
	return job.SolutionTrial{ShouldPass: s.ShouldPass, Outcome: s.Outcome, Stages: s.Stages}
}

func failureReason(r job.Result) string {
	switch {
	case r.ScoreNS != nil:
		return "score " + time.Duration(*r.ScoreNS).Round(10*time.Nanosecond).String()
	case r.Failure != nil:
		return r.Failure.Reason
	}
	return ""
}

// verdictError returns an error if a task or a solution is wrong.
func (v *verifier) verdictError(tasks int) error {
	fmt.Fprintf(v.lineOutput, "%s checked, %s run\n", format.Plural(tasks, "task", "tasks"), format.Plural(v.solutions, "solution", "solutions"))
	switch {
	case v.refusedTasks > 0:
		return fmt.Errorf("%d of %s cannot be used", v.refusedTasks, format.Plural(tasks, "task", "tasks"))
	case v.brokenTasks > 0:
		return fmt.Errorf("nothing shows that %d of %s works: no solution passed, and no answer was found wrong", v.brokenTasks, format.Plural(tasks, "task", "tasks"))
	case v.unexpectedVerdicts > 0:
		return fmt.Errorf("%d of %s did not end as expected", v.unexpectedVerdicts, format.Plural(v.solutions, "solution", "solutions"))
	}
	return nil
}
