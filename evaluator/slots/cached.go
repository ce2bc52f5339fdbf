package slots

import (
	"errors"
	"sync"
	"time"

	"warpboard/evaluator/toolchain"
)

// cachedProgramLifetime is the time for which a program is kept for its caller's next evaluation.
const cachedProgramLifetime = 2 * time.Minute

// CachedProgram keeps the program of the last evaluation for the same caller's next evaluation: its runner has done the
// imports, and its judge has initialized the device. The zero value is empty and ready to use.
type CachedProgram struct {
	mu           sync.Mutex
	caller       string
	program      toolchain.Program
	programNotes any
	expiryTimer  *time.Timer
	closeFailure error // errors from closing programs
}

// takeProgram removes and returns the caller's program, or nil. It closes another caller's program, so that no one gets
// data that another person's kernels left.
func (c *CachedProgram) takeProgram(caller string) (program toolchain.Program, notes any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isProgramOf(caller) {
		program, notes = c.program, c.programNotes
		c.program, c.programNotes = nil, nil
		c.expiryTimer.Stop()
		return program, notes
	}
	c.dropProgram()
	return nil, nil
}

// ReopenFor opens an artifact in the processes of the caller's program. It returns the new program with the notes that
// KeepProgram stored, or nil if there is none or it cannot be reused.
func (c *CachedProgram) ReopenFor(caller string, a *toolchain.Artifact) (program toolchain.Program, notes any) {
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

// KeepProgram stores a program for its caller's next evaluation, with notes about its contents. If usable is false, it
// closes the program.
func (c *CachedProgram) KeepProgram(caller string, program toolchain.Program, notes any, usable bool) {
	if !usable || caller == "" {
		c.close(program)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropProgram()
	c.caller, c.program, c.programNotes = caller, program, notes
	c.expiryTimer = time.AfterFunc(cachedProgramLifetime, func() { c.stopExpired(program) })
}

// keepsProgramOf reports whether takeProgram would return a program.
func (c *CachedProgram) keepsProgramOf(caller string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isProgramOf(caller)
}

// isProgramOf reports whether the stored program is the caller's. The caller of isProgramOf must hold c.mu.
func (c *CachedProgram) isProgramOf(caller string) bool {
	return c.program != nil && c.caller == caller && caller != ""
}

// stopExpired closes the program, unless takeProgram has removed it.
func (c *CachedProgram) stopExpired(program toolchain.Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program == program {
		c.dropProgram()
	}
}

// Close closes the stored program, if any.
func (c *CachedProgram) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropProgram()
}

// takeFailure returns and clears the errors from closing programs. After an error, the device must be checked.
func (c *CachedProgram) takeFailure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.closeFailure
	c.closeFailure = nil
	return err
}

func (c *CachedProgram) close(program toolchain.Program) {
	err := program.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeFailure = errors.Join(c.closeFailure, err)
}

func (c *CachedProgram) dropProgram() {
	if c.program != nil {
		c.expiryTimer.Stop()
		c.closeFailure = errors.Join(c.closeFailure, c.program.Close())
		c.program, c.programNotes = nil, nil
	}
}
