package evaluator

import (
	"sync"
	"time"

	"warpboard/evaluator/toolchain"
)

// spareLife is how long a runner waits for its caller's next evaluation.
const spareLife = 2 * time.Minute

// spare is the program that the last evaluation on a slot left, for the next one of the same caller: its
// runner has imported everything and holds what it compiled. The zero value is ready.
type spare struct {
	mu      sync.Mutex
	caller  string
	program toolchain.Program
	expiry  *time.Timer
}

// take returns the program that waits for the caller, whose it then is; nil when none does. Another
// caller's is closed: nobody meets what somebody else's kernels left.
func (s *spare) take(caller string) toolchain.Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.program != nil && s.caller == caller && caller != "" {
		program := s.program
		s.program = nil
		s.expiry.Stop()
		return program
	}
	s.drop()
	return nil
}

// keep has the program wait for its caller's next evaluation, or closes it when it is no good for that.
func (s *spare) keep(caller string, program toolchain.Program, good bool) {
	if !good || caller == "" {
		program.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	s.caller, s.program = caller, program
	s.expiry = time.AfterFunc(spareLife, func() { s.expire(program) })
}

// expire closes the program unless somebody took it meanwhile.
func (s *spare) expire(program toolchain.Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.program == program {
		s.drop()
	}
}

func (s *spare) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
}

func (s *spare) drop() {
	if s.program != nil {
		s.expiry.Stop()
		s.program.Close()
		s.program = nil
	}
}
