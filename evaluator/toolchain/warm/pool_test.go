package warm

import (
	"context"
	"os"
	"testing"
)

// TestTakeReadyReturnsNoPythonThatHasEnded has a Python that ended while it waited in the pool.
func TestTakeReadyReturnsNoPythonThatHasEnded(t *testing.T) {
	python := func() *Python {
		stdin, requests, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		control, frames, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { requests.Close(); frames.Close() })
		_, kill := context.WithCancel(t.Context())
		return &Python{kill: kill, stdin: stdin, controlSocket: control, ended: make(chan struct{})}
	}
	ended, alive := python(), python()
	close(ended.ended)
	p := NewPool(nil, nil)
	s := &pythonSlot{pythons: make(chan *Python, 2)}
	p.slots[0] = s
	s.pythons <- ended
	s.pythons <- alive
	if got := p.TakeReady(0); got != alive {
		t.Errorf("took %p, want %p", got, alive)
	}
	s.pythons <- ended
	if got := p.TakeReady(0); got != nil {
		t.Error("took a Python that has ended")
	}
}
