package console

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// StandardOutput is the standard output of a command. It stores the first error, because most callers ignore the errors
// of a write: a command whose output is incomplete, for example on a full disk, must not exit with 0.
type StandardOutput struct {
	writer io.Writer
	mu     sync.Mutex // guards err
	err    error
}

// NewOutput returns a StandardOutput that writes to a writer.
func NewOutput(to io.Writer) *StandardOutput { return &StandardOutput{writer: to} }

// Write writes p and stores the first error.
func (o *StandardOutput) Write(p []byte) (int, error) {
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
func (o *StandardOutput) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOfWriter returns the file to which w writes, or nil.
func fileOfWriter(w io.Writer) *os.File {
	if o, ok := w.(*StandardOutput); ok {
		w = o.writer
	}
	f, _ := w.(*os.File)
	return f
}
