package toolchain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
)

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
	c := &compilation{builder: b, req: BuildRequest{Place: place}, plan: plan}
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
