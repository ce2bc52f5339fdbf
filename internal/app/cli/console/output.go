package console

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// Output is a command's standard output. It keeps the first error, since most prints ignore theirs: a command whose output is cut off,
// by a full disk, must not end with 0.
type Output struct {
	to  io.Writer
	mu  sync.Mutex // of err
	err error
}

// NewOutput writes to a writer.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// Write writes.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = fmt.Errorf("the output is incomplete: %w", err)
		}
	}
	return n, err
}

// Err is the first error of a write.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf is the file that is written to; nil: it is none.
func fileOf(w io.Writer) *os.File {
	if o, ok := w.(*Output); ok {
		w = o.to
	}
	f, _ := w.(*os.File)
	return f
}
