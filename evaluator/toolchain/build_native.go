package toolchain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// maxProduct bounds one object or program.
const maxProduct = 512 << 20

// built is what is kept of a finished build.
type built struct {
	Program []byte
	Stdout  string
	Stderr  string
	Extra   map[string]string
}

func (b *Builder) buildNative(ctx context.Context, req BuildRequest, a *Artifact, result *job.StageResult) error {
	def := req.Job.Task
	if b.cfg.Tools.For(def.Lang) == nil {
		return fmt.Errorf("%w: no compiler for %s was found", ErrMissing, def.Lang)
	}
	p, err := b.newPlan(def, a.layout, req.Place.Arch)
	if err != nil {
		refuse(result, job.StatusError, job.Failure{Reason: "The task cannot be built here; its author has to mend it: " + err.Error() + "."})
		return nil
	}
	a.Command = p.String()
	programKey := key("program", p.base, filesKey(a.layout.Files), strings.Join(unitNames(a.layout), "\n"))
	var done built
	if data, ok := b.store.get(programKey); ok && json.Unmarshal(data, &done) == nil {
		result.Cached = true
	} else if done, err = b.makeProgram(ctx, req, p, result); err != nil || result.Status != job.StatusPass {
		return err
	} else if data, err := json.Marshal(done); err != nil {
		return err
	} else if err := b.store.put(programKey, data); err != nil {
		return err
	}
	a.program, result.Stdout, result.Stderr = done.Program, done.Stdout, done.Stderr
	mergeExtra(result, done.Extra)
	return nil
}

func unitNames(l harness.Layout) []string {
	names := make([]string, len(l.Units))
	for i, unit := range l.Units {
		names[i] = unit.Name
	}
	return names
}

// makeProgram compiles and links. The task's own units are compiled without the submission in
// sight and kept; where they need it (a bundle may include the submission in its eval program)
// everything is compiled together and nothing of it kept.
func (b *Builder) makeProgram(ctx context.Context, req BuildRequest, p *plan, result *job.StageResult) (built, error) {
	c := &compilation{builder: b, req: req, plan: p, steps: make([]step, len(p.layout.Units))}
	if err := c.run(ctx, false); err != nil {
		return built{}, err
	}
	if c.needsAll() {
		if err := c.run(ctx, true); err != nil {
			return built{}, err
		}
	}
	if failed := c.failed(); failed != nil {
		c.explain(result, *failed)
		return built{}, nil
	}
	linked, err := c.link(ctx)
	if err != nil {
		return built{}, err
	}
	if linked.product == nil {
		c.explain(result, linked)
		return built{}, nil
	}
	stdout, stderr := c.output(linked)
	return built{Program: linked.product, Stdout: stdout, Stderr: stderr, Extra: ptxasFacts(stderr)}, nil
}

// step is one command of a build. A nil product means that it failed.
type step struct {
	unit    harness.Unit
	product []byte
	outcome sandbox.Outcome
}

// compilation is one build under way.
type compilation struct {
	builder *Builder
	req     BuildRequest
	plan    *plan
	steps   []step
	logging sync.Mutex
}

// run compiles all units that have no product yet, at the same time. Together means that the
// task's units see the submission.
func (c *compilation) run(ctx context.Context, together bool) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, unit := range c.plan.layout.Units {
		if c.steps[i].product != nil {
			continue
		}
		group.Go(func() (err error) {
			if unit.Submitted || together {
				c.steps[i], err = c.command(ctx, unit, c.plan.compileCommand(unit), c.plan.layout.Files, "object", true)
			} else {
				c.steps[i], err = c.taskUnit(ctx, unit)
			}
			return err
		})
	}
	return group.Wait()
}

// taskUnit compiles a unit of the task's, or finds it in the store.
func (c *compilation) taskUnit(ctx context.Context, unit harness.Unit) (step, error) {
	files := c.plan.layout.TaskFiles()
	objectKey := key("object", c.plan.base, unit.Name, filesKey(files))
	if object, ok := c.builder.store.get(objectKey); ok {
		return step{unit: unit, product: object}, nil
	}
	s, err := c.command(ctx, unit, c.plan.compileCommand(unit), files, "object", false)
	if err != nil || s.product == nil {
		return s, err
	}
	return s, c.builder.store.put(objectKey, s.product)
}

func (c *compilation) link(ctx context.Context) (step, error) {
	objects := map[string][]byte{}
	for i, s := range c.steps {
		objects[objectName(i)] = s.product
	}
	return c.command(ctx, harness.Unit{Name: "linking", Submitted: true}, c.plan.linkCommand(), objects, "program", true)
}

// command runs one compiler command in the sandbox and takes its product from /out.
func (c *compilation) command(ctx context.Context, unit harness.Unit, argv []string, files map[string][]byte, product string, logged bool) (step, error) {
	spec := sandbox.Spec{
		Slot: c.req.Place.Slot, Argv: argv, Dir: "/in", Files: files, Mounts: c.plan.mounts,
		Limits: c.req.Place.Build, Collect: map[string]int64{product: maxProduct},
	}
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

// needsAll tells whether a bundle's own unit failed for want, perhaps, of the submission.
func (c *compilation) needsAll() bool {
	for _, s := range c.steps {
		if s.product == nil && !s.unit.Submitted && !s.outcome.Cancelled && !c.plan.layout.Separable {
			return true
		}
	}
	return false
}

// failed is the step to tell about: the submission's, if both its and the task's failed.
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
