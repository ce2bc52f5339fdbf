package console

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// Output is the standard output of a command. It stores the first error, because most callers ignore the errors of a
// write: a command whose output is incomplete, for example on a full disk, must not exit with 0.
type Output struct {
	writer io.Writer
	mu     sync.Mutex // guards err
	err    error
}

// NewOutput returns an Output that writes to a writer.
func NewOutput(to io.Writer) *Output { return &Output{writer: to} }

// Write writes p and stores the first error.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.writer.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = fmt.Errorf("the output is incomplete: %w", err)
		}
	}
	return n, err
}

// Err returns the first error of a write.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf returns the file to which w writes, or nil.
func fileOf(w io.Writer) *os.File {
	if o, ok := w.(*Output); ok {
		w = o.writer
	}
	f, _ := w.(*os.File)
	return f
}
