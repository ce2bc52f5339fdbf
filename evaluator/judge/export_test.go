package judge

import "context"

// One is a single runner.
func One(runner ProcessFunc) RunnerConfig {
	return RunnerConfig{NextRunner: func(_ context.Context, number int) ProcessFunc {
		if number > 0 {
			return nil
		}
		return runner
	}}
}
