package judge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PageSize is the size in bytes of the page that judge and runner share.
const PageSize = 256 << 10

// wires connect the judge with one runner: a stream socket and the page. The judge has a life line beside them, a pipe whose
// other end no sandbox ever holds: the end of a channel is easily pretended (shutdown), that of the life line is not.
type wires struct {
	judge, runner [2]*os.File // each the channel's end and the page
	lifeLine      *os.File    // the judge's end
	alive         *os.File    // closed when nothing of the runner is left
}

// newWires makes the connections of one runner. The caller closes each set of ends when its process has them.
func newWires() (*wires, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("connect judge and runner: %w", err)
	}
	w := &wires{}
	w.judge[0] = os.NewFile(uintptr(ends[0]), "judge's channel")
	w.runner[0] = os.NewFile(uintptr(ends[1]), "runner's channel")
	if w.judge[1], err = newPage(); err == nil {
		w.runner[1], err = duplicate(w.judge[1])
	}
	if err == nil {
		w.lifeLine, w.alive, err = os.Pipe()
	}
	if err != nil {
		closeAll(w.judge[:])
		closeAll(w.runner[:])
		return nil, fmt.Errorf("share memory between judge and runner: %w", err)
	}
	return w, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close() // a second time is harmless
		}
	}
}

// door is where the judge gets its runners: a socket of messages. Each message to the judge is a runner's number with
// the judge's ends of its wires and its life line; each from the judge is the number of a runner whose turn is over.
type door struct {
	ours  *net.UnixConn
	judge *os.File // becomes its descriptor 4
}

func newDoor() (*door, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make the judge's door: %w", err)
	}
	ours := os.NewFile(uintptr(ends[0]), "door")
	defer ours.Close()
	d := &door{judge: os.NewFile(uintptr(ends[1]), "judge's door")}
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the judge's door: %w", err), d.judge.Close())
	}
	d.ours = conn.(*net.UnixConn)
	return d, nil
}

// hand gives the judge its ends of a runner's wires. A judge that is gone takes nothing, which it says itself.
func (d *door) hand(number int, w *wires) {
	rights := unix.UnixRights(int(w.judge[0].Fd()), int(w.judge[1].Fd()), int(w.lifeLine.Fd()))
	_, _, _ = d.ours.WriteMsgUnix(binary.LittleEndian.AppendUint32(nil, uint32(number)), rights, nil)
	closeAll(w.judge[:])
	w.lifeLine.Close()
}

// over reports each runner whose turn the judge has ended, until the door is closed.
func (d *door) over(tell func(number int)) {
	word := make([]byte, 4)
	for {
		n, err := d.ours.Read(word)
		if err != nil || n != len(word) {
			return
		}
		tell(int(binary.LittleEndian.Uint32(word)))
	}
}

// shut tells the judge that there is no further runner. The judge's messages are still read.
func (d *door) shut() { _ = d.ours.CloseWrite() }

func (d *door) close() {
	d.ours.Close()
	d.judge.Close()
}

// newPage makes shared memory that no one can shrink or grow: looking at it never fails.
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
