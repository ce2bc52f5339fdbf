package judge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// SharedPageSize is the size of the memory page that judge and runner share, in bytes.
const SharedPageSize = 256 << 10

// runnerChannel connects the judge with one runner by a stream socket and a page. The judge also gets a life line, a
// pipe whose other end is in no sandbox, because a runner can fake the end of its channel (shutdown), but not that of
// the life line.
type runnerChannel struct {
	judgeFiles, runnerFiles [2]*os.File // each has an end of the channel, and the page
	lifeLine                *os.File    // the judge's end of the pipe
	lifeLineEnd             *os.File    // this process's end; closed when no process of the runner is left
}

// newRunnerChannel returns the channel of one runner. The caller must close judgeFiles and runnerFiles after passing
// them to the process that uses them.
func newRunnerChannel() (*runnerChannel, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("connect judge and runner: %w", err)
	}
	w := &runnerChannel{}
	w.judgeFiles[0] = os.NewFile(uintptr(ends[0]), "judge's channel")
	w.runnerFiles[0] = os.NewFile(uintptr(ends[1]), "runner's channel")
	if w.judgeFiles[1], err = newSharedPage(); err == nil {
		w.runnerFiles[1], err = duplicateFile(w.judgeFiles[1])
	}
	if err == nil {
		w.lifeLine, w.lifeLineEnd, err = os.Pipe()
	}
	if err != nil {
		closeAll(w.judgeFiles[:])
		closeAll(w.runnerFiles[:])
		return nil, fmt.Errorf("share memory between judge and runner: %w", err)
	}
	return w, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close() // closing twice is harmless
		}
	}
}

// judgeSocket passes runners to the judge over a message socket. Each message to the judge has the number of a runner,
// with the judge's ends of its channel and life line as descriptors. Each message from the judge has the number of a
// runner that gets no more calls (its turn has ended).
type judgeSocket struct {
	ownEnd   *net.UnixConn
	judgeEnd *os.File // becomes descriptor 4 of the judge's process
}

func newJudgeSocket() (*judgeSocket, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make the judge's door: %w", err)
	}
	ours := os.NewFile(uintptr(ends[0]), "door")
	defer ours.Close()
	d := &judgeSocket{judgeEnd: os.NewFile(uintptr(ends[1]), "judge's door")}
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the judge's door: %w", err), d.judgeEnd.Close())
	}
	d.ownEnd = conn.(*net.UnixConn)
	return d, nil
}

// sendRunner sends the judge its ends of a runner's channel. It ignores errors, because a judge that has ended reports
// that itself.
func (d *judgeSocket) sendRunner(number int, w *runnerChannel) {
	rights := unix.UnixRights(int(w.judgeFiles[0].Fd()), int(w.judgeFiles[1].Fd()), int(w.lifeLine.Fd()))
	_, _, _ = d.ownEnd.WriteMsgUnix(binary.LittleEndian.AppendUint32(nil, uint32(number)), rights, nil)
	closeAll(w.judgeFiles[:])
	w.lifeLine.Close()
}

// forEachEndedTurn calls tell with the number of each runner whose turn the judge has ended, until the socket is
// closed.
func (d *judgeSocket) forEachEndedTurn(tell func(number int)) {
	word := make([]byte, 4)
	for {
		n, err := d.ownEnd.Read(word)
		if err != nil || n != len(word) {
			return
		}
		tell(int(binary.LittleEndian.Uint32(word)))
	}
}

// announceNoMoreRunners tells the judge that there is no other runner. Messages from the judge are still read.
func (d *judgeSocket) announceNoMoreRunners() { _ = d.ownEnd.CloseWrite() }

func (d *judgeSocket) close() {
	d.ownEnd.Close()
	d.judgeEnd.Close()
}

// newSharedPage returns shared memory that no process can resize, so that accessing it never causes a fault.
func newSharedPage() (*os.File, error) {
	fd, err := unix.MemfdCreate("page", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	page := os.NewFile(uintptr(fd), "page")
	if err := page.Truncate(SharedPageSize); err != nil {
		return nil, errors.Join(err, page.Close())
	}
	if _, err := unix.FcntlInt(page.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return nil, errors.Join(err, page.Close())
	}
	return page, nil
}

func duplicateFile(file *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), file.Name()), nil
}
