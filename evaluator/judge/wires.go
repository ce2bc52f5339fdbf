package judge

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// PageSize is the size in bytes of the page that judge and runner share.
const PageSize = 256 << 10

// Wires connect one judge and one runner: a stream socket and the page. The caller closes each set of ends when its
// process has them, and what is left with Close.
type Wires struct {
	judge, runner [2]*os.File // the channel's end and the page, which become descriptors 4 and 5
}

// NewWires makes the connections of one stage.
func NewWires() (*Wires, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("connect judge and runner: %w", err)
	}
	w := &Wires{}
	w.judge[0] = os.NewFile(uintptr(ends[0]), "judge's channel")
	w.runner[0] = os.NewFile(uintptr(ends[1]), "runner's channel")
	for _, page := range []**os.File{&w.judge[1], &w.runner[1]} {
		if w.judge[1] != nil {
			*page, err = duplicate(w.judge[1])
		} else {
			*page, err = newPage()
		}
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("share memory between judge and runner: %w", err)
		}
	}
	return w, nil
}

// Judge is what the judge inherits from descriptor 4 on.
func (w *Wires) Judge() []*os.File { return w.judge[:] }

// Runner is what the runner inherits from descriptor 4 on.
func (w *Wires) Runner() []*os.File { return w.runner[:] }

// CloseJudge closes this process's copies of the judge's ends: the runner then sees its end.
func (w *Wires) CloseJudge() { closeAll(w.judge[:]) }

// CloseRunner closes this process's copies of the runner's ends. Until then the judge does not see the end of the
// channel: it tells the judge that nothing of the runner is left, and so comes after the death of its sandbox.
func (w *Wires) CloseRunner() { closeAll(w.runner[:]) }

// Close closes everything.
func (w *Wires) Close() {
	w.CloseJudge()
	w.CloseRunner()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close() // a second time is harmless
		}
	}
}

// newPage makes shared memory that nobody can shrink or grow: looking at it never fails.
func newPage() (*os.File, error) {
	fd, err := unix.MemfdCreate("page", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	page := os.NewFile(uintptr(fd), "page")
	if err := page.Truncate(PageSize); err != nil {
		return nil, errors.Join(err, page.Close())
	}
	if _, err := unix.FcntlInt(page.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return nil, errors.Join(err, page.Close())
	}
	return page, nil
}

func duplicate(file *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), file.Name()), nil
}
