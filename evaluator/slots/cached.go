package slots

import (
	"sync"
	"time"

	"warpboard/evaluator/toolchain"
)

// cachedFor is how long a program waits for its caller's next evaluation.
const cachedFor = 2 * time.Minute

// CachedProgram is the program that the last evaluation left, for the next one of the same caller: its
// runner has imported everything, and its judge has set up the device. The zero value is empty and ready.
type CachedProgram struct {
	mu      sync.Mutex
	caller  string
	program toolchain.Program
	notes   any
	expiry  *time.Timer
}

// take returns the program that waits for the caller, whose it then is; nil when none does. Another
// caller's is closed: no one meets what someone else's kernels left.
func (c *CachedProgram) take(caller string) (program toolchain.Program, notes any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program != nil && c.caller == caller && caller != "" {
		program, notes = c.program, c.notes
		c.program, c.notes = nil, nil
		c.expiry.Stop()
		return program, notes
	}
	c.drop()
	return nil, nil
}

// Next runs an artifact in the program that waits for the caller, and returns the notes that were kept with it; nil when none does,
// or none can.
func (c *CachedProgram) Next(caller string, a *toolchain.Artifact) (program toolchain.Program, notes any) {
	left, notes := c.take(caller)
	if left == nil {
		return nil, nil
	}
	next := left.Next(a)
	if next == nil {
		left.Close()
		return nil, nil
	}
	return next, notes
}

// Keep has the program wait for its caller's next evaluation, with notes of what it holds, or closes it when it cannot be used
// again.
func (c *CachedProgram) Keep(caller string, program toolchain.Program, notes any, usable bool) {
	if !usable || caller == "" {
		program.Close()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
	c.caller, c.program, c.notes = caller, program, notes
	c.expiry = time.AfterFunc(cachedFor, func() { c.expire(program) })
}

// expire closes the program unless someone took it in the meantime.
func (c *CachedProgram) expire(program toolchain.Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program == program {
		c.drop()
	}
}

// Close closes the program that waits.
func (c *CachedProgram) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

func (c *CachedProgram) drop() {
	if c.program != nil {
		c.expiry.Stop()
		c.program.Close()
		c.program, c.notes = nil, nil
	}
}
