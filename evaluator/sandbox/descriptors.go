package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// bwrapDescriptors has the numbers of the descriptors that only bubblewrap uses, in the child.
type bwrapDescriptors struct{ seccompFD, statusFD, gateFD int }

// runDescriptors has both ends of all pipes between the server and a run. The numbers in the child are 0 to 2, then the
// program's (ResultPipe, ExtraFiles), then bubblewrap's three and its options.
type runDescriptors struct {
	bwrapDescriptors
	stdout, stderr *os.File // read ends
	statusReadEnd  *os.File // read end: bubblewrap's JSON
	gateWriteEnd   *os.File // write end: one byte starts the program
	childFiles     []*os.File
	programFiles   []*os.File // from descriptor 3 on, the program's first
}

// newDescriptors creates the pipes of a run. The caller must close the child's ends after the start.
func newDescriptors(spec *Spec, filter []byte) (d *runDescriptors, err error) {
	d = &runDescriptors{}
	defer func() {
		if err != nil {
			closeAll(append(d.childFiles, d.stdout, d.stderr, d.statusReadEnd, d.gateWriteEnd))
			err = fmt.Errorf("make the pipes of a run: %w", err)
		}
	}()
	var errs [5]error
	var seccomp *os.File
	d.stdout, errs[0] = d.newReadPipe()
	d.stderr, errs[1] = d.newReadPipe()
	d.statusReadEnd, errs[2] = d.newReadPipe()
	d.gateWriteEnd, errs[3] = d.newWritePipe()
	if errs[3] == nil && filter != nil {
		errs[3] = d.keepOpen(len(d.childFiles) - 1)
	}
	seccomp, errs[4] = d.newWritePipe()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	// bubblewrap reads the filter up to the end of the pipe.
	defer seccomp.Close()
	// The filter is far smaller than a pipe's buffer, so this does not block.
	if _, err := seccomp.Write(filter); err != nil {
		return nil, err
	}
	d.assignNumbers(spec)
	return d, nil
}

// assignNumbers assigns the child's descriptors: the program's first, then bubblewrap's.
func (d *runDescriptors) assignNumbers(spec *Spec) {
	if spec.ResultPipe != nil || len(spec.ExtraFiles) > 0 {
		d.programFiles = append(append(d.programFiles, spec.ResultPipe), spec.ExtraFiles...)
	}
	first := 3 + len(d.programFiles)
	d.bwrapDescriptors = bwrapDescriptors{statusFD: first, gateFD: first + 1, seccompFD: first + 2}
	d.programFiles = append(d.programFiles, d.childFiles[2:]...)
}

// newReadPipe creates a pipe and returns the read end for the server.
func (d *runDescriptors) newReadPipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err == nil {
		d.childFiles = append(d.childFiles, w)
	}
	return r, err
}

// newWritePipe creates a pipe and returns the write end for the server.
func (d *runDescriptors) newWritePipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err == nil {
		d.childFiles = append(d.childFiles, r)
	}
	return w, err
}

// keepOpen opens the read end of the child's nth pipe also for writing, so that the pipe never ends. bubblewrap would
// continue at the end of the gate's pipe: if the server were killed at that moment, the program would run without
// limits. A bubblewrap that waits is killed by the next server.
func (d *runDescriptors) keepOpen(n int) error {
	both, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(d.childFiles[n].Fd())), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	d.childFiles[n].Close()
	d.childFiles[n] = both
	return nil
}

// closeOnExec sets close-on-exec for descriptors that the server inherited or that a C library opened. Go sets it for
// its own.
func closeOnExec() error {
	const first = 3
	err := unix.CloseRange(first, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Linux before 5.11 lacks CLOSE_RANGE_CLOEXEC.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list the server's descriptors: %w", err)
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
