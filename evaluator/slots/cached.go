package slots

import (
	"errors"
	"sync"
	"time"

	"warpboard/evaluator/toolchain"
)

// cachedFor is the time for which a program is kept for its caller's next evaluation.
const cachedFor = 2 * time.Minute

// CachedProgram keeps the program of the last evaluation for the same caller's next evaluation: its runner has done the
// imports, and its judge has initialized the device. The zero value is empty and ready to use.
type CachedProgram struct {
	mu      sync.Mutex
	caller  string
	program toolchain.Program
	notes   any
	expiry  *time.Timer
	failure error // of closed programs
}

// takeProgram removes and returns the caller's program, or nil. It closes another caller's program, so that no one gets
// data that another person's kernels left.
func (c *CachedProgram) takeProgram(caller string) (program toolchain.Program, notes any) {
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

// Next opens an artifact in the processes of the caller's program. It returns the new program with the notes that Keep
// stored, or nil if there is none or it cannot be reused.
func (c *CachedProgram) Next(caller string, a *toolchain.Artifact) (program toolchain.Program, notes any) {
	left, notes := c.takeProgram(caller)
	if left == nil {
		return nil, nil
	}
	next := left.Next(a)
	if next == nil {
		c.close(left)
		return nil, nil
	}
	return next, notes
}

// Keep stores a program for its caller's next evaluation, with notes about its contents. If usable is false, it closes
// the program.
func (c *CachedProgram) Keep(caller string, program toolchain.Program, notes any, usable bool) {
	if !usable || caller == "" {
		c.close(program)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
	c.caller, c.program, c.notes = caller, program, notes
	c.expiry = time.AfterFunc(cachedFor, func() { c.stopExpired(program) })
}

// stopExpired closes the program, unless take has removed it.
func (c *CachedProgram) stopExpired(program toolchain.Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program == program {
		c.drop()
	}
}

// Close closes the stored program, if any.
func (c *CachedProgram) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

// takeFailure returns and forgets the failures of closed programs. The device must be checked after one.
func (c *CachedProgram) takeFailure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.failure
	c.failure = nil
	return err
}

func (c *CachedProgram) close(program toolchain.Program) {
	err := program.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = errors.Join(c.failure, err)
}

func (c *CachedProgram) drop() {
	if c.program != nil {
		c.expiry.Stop()
		c.failure = errors.Join(c.failure, c.program.Close())
		c.program, c.notes = nil, nil
	}
}
