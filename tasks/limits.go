package tasks

import "fmt"

// Limits of what is read. A zip may hold a whole tree of tasks, so its bounds are wider than a
// single task's.
const (
	MaxYAML       = 256 << 10 // bytes of a task.yml or of a problem set
	MaxBundle     = 4 << 20   // bytes of all files that one task stores
	MaxSubmission = 1_000_000 // bytes of a reference file in the legacy format
	MaxCases      = 256       // tests, and benchmarks
)

// Options are the bounds and surroundings of one reading. The zero value means the defaults.
type Options struct {
	Name     string // what a task at the top of the upload is called; default "task"
	MaxFiles int    // default 512
	MaxFile  int64  // bytes of one file, unpacked; default 4 MiB
	MaxTotal int64  // bytes of all files, unpacked; default 32 MiB
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "task"
	}
	if o.MaxFiles == 0 {
		o.MaxFiles = 512
	}
	if o.MaxFile == 0 {
		o.MaxFile = 4 << 20
	}
	if o.MaxTotal == 0 {
		o.MaxTotal = 32 << 20
	}
	return o
}

// size writes a number of bytes for a sentence.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
