package toolchain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/sandbox"
)

// maxProduct bounds one object or program.
// CUTLASS kernels come to tens of megabytes. The product is in memory as a whole, and in the store.
const maxProduct = 512 << 20

// A submission of many files compiles at most as many at a time as a program of one file has (judge, runner and submission),
// because each compiler may take a build's memory; and all of them in the time of three.
const unitsAtOnce, unitsInTurn = 3, 3

// step is one command of a build. A nil product means that it failed.
type step struct {
	unit    harness.Unit
	product []byte
	reused  bool // the product comes from the store
	outcome sandbox.Outcome
}

// compilation is one build under way.
// steps has a place per unit, each written by one goroutine, and is read after all have ended; logging guards only the
// order of lines.
type compilation struct {
	builder *Builder
	req     BuildRequest
	plan    *plan
	steps   []step
	begun   time.Time
	logging sync.Mutex
}

// run compiles all units that have no product yet, at the same time. Together means that the
// task's units see the submission.
func (c *compilation) run(ctx context.Context, together bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(unitsAtOnce)
	for i, unit := range c.plan.sources.Units {
		if c.steps[i].product != nil {
			continue
		}
		group.Go(func() (err error) {
			if unit.Submitted || together {
				c.steps[i], err = c.compileOne(ctx, unit, c.plan.sources.Files, true)
			} else {
				c.steps[i], err = c.taskUnit(ctx, unit)
			}
			return err
		})
	}
	return group.Wait()
}

// judge returns the judge's program; nil if the program of the submission judges itself.
func (c *compilation) judge(ctx context.Context) (step, error) {
	for i, unit := range c.plan.sources.Units {
		if !unit.Judge {
			continue
		}
		if c.steps[i].product != nil {
			return c.steps[i], nil
		}
		return c.taskUnit(ctx, unit)
	}
	return step{}, nil
}

// taskUnit compiles a unit of the task's, or finds it in the store. If another build compiles the same unit at the
// same time, it waits. That a bundle's own unit does not compile without the submission is
// remembered, so that it is not tried at every run.
func (c *compilation) taskUnit(ctx context.Context, unit harness.Unit) (step, error) {
	files := c.plan.sources.TaskFiles()
	objectKey := key("object", c.plan.base, unit.Name, filesKey(files))
	needsSubmissionKey := key("needs the submission", objectKey)
	unlock, err := c.builder.units.lock(ctx, objectKey)
	if err != nil {
		// Cancelled while it waited for another build: no error, or the run would count as an infrastructure error.
		return step{unit: unit, outcome: sandbox.Outcome{ExitCode: -1, Cancelled: true}}, nil
	}
	defer unlock()
	if object, ok := c.builder.store.get(objectKey); ok {
		return step{unit: unit, product: object, reused: true}, nil
	}
	if _, needs := c.builder.store.get(needsSubmissionKey); needs {
		return step{unit: unit}, nil
	}
	if err := c.builder.store.mkdir(objectKey); err != nil {
		return step{}, err
	}
	s, err := c.compileOne(ctx, unit, files, false)
	switch {
	case err != nil:
		return s, err
	case s.product != nil:
		return s, c.builder.store.put(objectKey, s.product)
	case s.compilerRejected() && !c.plan.sources.Separable:
		// Only a verdict of the compiler is kept. A time limit or a signal may be this machine's, and is tried again.
		return s, c.builder.store.put(needsSubmissionKey, nil)
	}
	return s, nil
}

// compilerRejected reports whether the compiler came to its end and rejected the source.
func (s step) compilerRejected() bool {
	return s.outcome.ExitCode != 0 && s.outcome.Signal == "" && s.outcome.Limit == "" && !s.outcome.Cancelled
}

func (c *compilation) link(ctx context.Context) (step, error) {
	// Units that failed have no product; link is reached only when none is missing.
	objects := map[string][]byte{}
	for i, s := range c.steps {
		if !s.unit.Judge {
			objects[objectName(i)] = s.product
		}
	}
	spec := sandbox.Spec{Argv: c.plan.linkCommand(), Dir: "/in", Files: objects, Limits: c.req.Place.Build}
	return c.command(ctx, harness.Unit{Name: "linking", Submitted: true}, spec, "program", true)
}

// compileOne runs a compiler on a unit among the files.
func (c *compilation) compileOne(ctx context.Context, unit harness.Unit, files map[string][]byte, logged bool) (step, error) {
	spec := sandbox.Spec{Argv: c.plan.compileCommand(unit), Dir: "/in", Files: files, Limits: c.limits(unit)}
	return c.command(ctx, unit, spec, "object", logged)
}

// limits are those of a compiler; for the submission's files, the time that is left for all of them.
func (c *compilation) limits(unit harness.Unit) sandbox.Limits {
	limits := c.req.Place.Build
	if unit.Submitted {
		limits.Wall = inTurn(limits.Wall, c.begun)
	}
	return limits
}

// inTurn is the time that one of many commands of a build has, which may each take a while.
func inTurn(while time.Duration, begun time.Time) time.Duration {
	return max(time.Second, min(while, unitsInTurn*while-time.Since(begun)))
}

// ptx compiles the submission up to PTX, for a profile: the profiled program has only machine code. The result is cached. A
// profile is also useful without PTX, so its absence is not a failure.
func (c *compilation) ptx(ctx context.Context) ([]byte, error) {
	ptxKey := key("ptx", c.plan.base, filesKey(c.plan.sources.Files))
	if kept, ok := c.builder.store.get(ptxKey); ok {
		return kept, nil
	}
	var all []byte
	for _, unit := range c.plan.sources.Units {
		if !unit.Submitted || unit.Judge {
			continue
		}
		s, err := c.command(ctx, unit, sandbox.Spec{Argv: c.plan.ptxCommand(unit), Dir: "/in", Files: c.plan.sources.Files, Limits: c.limits(unit)}, "ptx", false)
		if err != nil || s.product == nil || len(all)+len(s.product) > ncu.MaxPTX {
			return nil, err
		}
		all = append(all, s.product...)
	}
	return all, c.builder.store.put(ptxKey, all)
}

// command runs one command of a build in the sandbox and takes its product from /out.
func (c *compilation) command(ctx context.Context, unit harness.Unit, spec sandbox.Spec, product string, logged bool) (step, error) {
	spec.Slot, spec.Mounts = c.req.Place.Slot, c.plan.mounts
	spec.Collect = map[string]int64{product: maxProduct}
	if logged {
		spec.OnStdout = func(b []byte) { c.log("stdout", b) }
		spec.OnStderr = func(b []byte) { c.log("stderr", b) }
	}
	outcome, err := run(ctx, c.builder.cfg.Runner, spec)
	if err != nil {
		return step{}, fmt.Errorf("run the compiler: %w", err)
	}
	s := step{unit: unit, outcome: outcome}
	if outcome.ExitCode == 0 && outcome.Limit == "" && !outcome.Cancelled {
		s.product = outcome.Files[product]
	}
	return s, nil
}

func (c *compilation) log(stream string, text []byte) {
	c.logging.Lock()
	defer c.logging.Unlock()
	c.req.OnLog(stream, text)
}

// needsAll reports whether a bundle's own unit failed, perhaps because it needs the submission.
func (c *compilation) needsAll() bool {
	for _, s := range c.steps {
		if s.product == nil && !s.unit.Submitted && !s.outcome.Cancelled && !c.plan.sources.Separable {
			return true
		}
	}
	return false
}

// reused names the task's units that were compiled before.
func (c *compilation) reused() []string {
	var names []string
	for _, s := range c.steps {
		if s.reused {
			names = append(names, s.unit.Name)
		}
	}
	return names
}

// failed is the step to report: the submission's, if both its and the task's failed.
func (c *compilation) failed() *step {
	var failed *step
	for i := range c.steps {
		s := &c.steps[i]
		if s.product == nil && (failed == nil || s.unit.Submitted && !failed.unit.Submitted) {
			failed = s
		}
	}
	return failed
}

// output joins what was printed on the submission's behalf.
func (c *compilation) output(linked step) (stdout, stderr string) {
	for _, s := range append(c.steps, linked) {
		if s.unit.Submitted {
			stdout += s.outcome.Stdout
			stderr += s.outcome.Stderr
		}
	}
	return stdout, stderr
}

// Prepare compiles what belongs to a task into the cache, one unit after the other: what every build
// for the task at such a place begins with. It returns how many units were not there yet. The error
// is ctx's, an infrastructure error, or says what is wrong with the task.
func (b *Builder) Prepare(ctx context.Context, p job.Preparation, place Place) (made int, err error) {
	sources := harness.Assemble(p.Task, p.Sources)
	units := slices.DeleteFunc(slices.Clone(sources.Units), func(u harness.Unit) bool { return u.Submitted })
	if len(units) == 0 {
		return 0, nil
	}
	if b.cfg.Tools.For(p.Task.Lang) == nil {
		return 0, fmt.Errorf("%w: no compiler for %s was found", ErrMissing, p.Task.Lang)
	}
	plan, err := b.newPlan(p.Task, sources, place.Arch)
	if err != nil {
		return 0, err
	}
	c := &compilation{builder: b, req: BuildRequest{Place: place}, plan: plan, begun: time.Now()}
	for _, unit := range units {
		s, err := c.taskUnit(ctx, unit)
		switch {
		case err != nil:
			return made, err
		case ctx.Err() != nil:
			return made, ctx.Err()
		case s.product == nil && sources.Separable:
			_, failure := failedCommand(s.outcome, "compiling "+unit.Name)
			return made, errors.New(failure.Reason)
		case s.product != nil && !s.reused:
			made++
		}
	}
	return made, nil
}
