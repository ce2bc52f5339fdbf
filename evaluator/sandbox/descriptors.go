package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// control has the descriptor numbers, in the child, that only bubblewrap uses.
type control struct{ seccomp, status, gate int }

// descriptors has both ends of all connections between the server and a run. Numbers in the child: 0 to 2, then the
// program's (Pipe, ExtraFiles), then bubblewrap's three and its options.
type descriptors struct {
	control
	stdout, stderr *os.File // read ends
	status         *os.File // read end: bubblewrap's JSON
	gate           *os.File // write end: one byte starts the program
	theirs         []*os.File
	extra          []*os.File // from descriptor 3 on, the program's first
}

// newDescriptors creates the pipes of a run. The caller closes theirs after the start.
func newDescriptors(spec *Spec, filter []byte) (d *descriptors, err error) {
	d = &descriptors{}
	defer func() {
		if err != nil {
			closeAll(append(d.theirs, d.stdout, d.stderr, d.status, d.gate))
			err = fmt.Errorf("make the pipes of a run: %w", err)
		}
	}()
	var errs [5]error
	var seccomp *os.File
	d.stdout, errs[0] = d.reading()
	d.stderr, errs[1] = d.reading()
	d.status, errs[2] = d.reading()
	d.gate, errs[3] = d.writing()
	if errs[3] == nil && filter != nil {
		errs[3] = d.neverEnds(len(d.theirs) - 1)
	}
	seccomp, errs[4] = d.writing()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	// bubblewrap reads the filter to the pipe's end.
	defer seccomp.Close()
	// The filter is far smaller than a pipe's buffer, so this does not block.
	if _, err := seccomp.Write(filter); err != nil {
		return nil, err
	}
	d.number(spec)
	return d, nil
}

// number assigns the child's descriptors: the program's first, then bubblewrap's.
func (d *descriptors) number(spec *Spec) {
	if spec.Pipe != nil || len(spec.ExtraFiles) > 0 {
		d.extra = append(append(d.extra, spec.Pipe), spec.ExtraFiles...)
	}
	first := 3 + len(d.extra)
	d.control = control{status: first, gate: first + 1, seccomp: first + 2}
	d.extra = append(d.extra, d.theirs[2:]...)
}

// reading creates a pipe and returns the read end for the server.
func (d *descriptors) reading() (*os.File, error) {
	r, w, err := os.Pipe()
	if err == nil {
		d.theirs = append(d.theirs, w)
	}
	return r, err
}

// writing creates a pipe and returns the write end for the server.
func (d *descriptors) writing() (*os.File, error) {
	r, w, err := os.Pipe()
	if err == nil {
		d.theirs = append(d.theirs, r)
	}
	return w, err
}

// neverEnds opens the read end of the child's nth pipe also for writing, so that it never ends. bubblewrap would
// continue at the end of the gate's pipe: if the server were killed at this moment, the program would run without
// limits. The next server kills a waiting bubblewrap.
func (d *descriptors) neverEnds(n int) error {
	both, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(d.theirs[n].Fd())), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	d.theirs[n].Close()
	d.theirs[n] = both
	return nil
}

// closeOnExec marks descriptors that the server inherited, or that a C library opened, so that programs started from
// now on do not inherit them. Go marks its own.
func closeOnExec() error {
	const first = 3
	err := unix.CloseRange(first, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Linux before 5.11 lacks this call.
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
