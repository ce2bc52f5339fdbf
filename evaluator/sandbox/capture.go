package sandbox

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"warpboard/evaluator/job"
)

// Sizes of the kept parts of a stream: the first 48 KiB and the last 16 KiB.
const (
	// The head is larger, because compilers print the first error there. The result contains both streams of every
	// stage.
	maxHeadBytes = 48 << 10
	maxTailBytes = 16 << 10
)

// OutputCapture keeps the head and the tail of one stream. The zero value is ready to use. It is safe for concurrent
// use.
type OutputCapture struct {
	mu         sync.Mutex
	totalBytes int64
	head       []byte
	tail       []byte // the last bytes after head, at most twice maxTailBytes of them
}

// Write adds output of the stream. It never fails.
func (c *OutputCapture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totalBytes += int64(len(b))
	n := min(len(b), maxHeadBytes-len(c.head))
	c.head = append(c.head, b[:n]...)
	c.tail = append(c.tail, b[n:]...)
	if len(c.tail) > 2*maxTailBytes {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxTailBytes:]...)
	}
	return len(b), nil
}

// String returns the kept output in printable form, with a note where bytes are missing.
func (c *OutputCapture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-maxTailBytes):]
	cut := c.totalBytes - int64(len(c.head)) - int64(len(tail))
	if cut == 0 {
		return CleanOutput(append(c.head[:len(c.head):len(c.head)], tail...))
	}
	head := c.head
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRune(head); r != utf8.RuneError || size != 1 {
			break
		}
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	cut = c.totalBytes - int64(len(head)) - int64(len(tail))
	return fmt.Sprintf("%s\n[%d bytes are cut here]\n%s", CleanOutput(head), cut, CleanOutput(tail))
}

// CleanOutput converts a program's output for display: valid UTF-8, line breaks as "\n", no control characters except
// tabs (others can overwrite a terminal, and PostgreSQL refuses them), and visible marks instead of bidirectional
// controls.
func CleanOutput(b []byte) string {
	s := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\r\n", "\n")
	return job.MarkBidiControls(strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r != '\n' && r != '\t' && unicode.IsControl(r):
			return utf8.RuneError
		}
		return r
	}, s))
}

// outputMeter counts the bytes that a run writes to stdout and stderr together. It closes limitExceeded when the count
// exceeds the limit.
type outputMeter struct {
	bytesLeft     atomic.Int64
	limitExceeded chan struct{}
	closeOnce     sync.Once
}

func newOutputMeter(limit int64) *outputMeter {
	m := &outputMeter{limitExceeded: make(chan struct{})}
	m.bytesLeft.Store(limit)
	if limit == 0 {
		m.bytesLeft.Store(1<<63 - 1)
	}
	return m
}

func (m *outputMeter) addBytes(n int) {
	if m.bytesLeft.Add(-int64(n)) < 0 {
		m.closeOnce.Do(func() { close(m.limitExceeded) })
	}
}

// readAll reads a stream to its end and calls see for each piece. The program waits while see runs, because an unread
// pipe is full after 64 KiB. Output beyond the limit is read, too, until the supervisor has killed the run.
func (c *OutputCapture) readAll(from *os.File, m *outputMeter, see func([]byte)) {
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			_, _ = c.Write(buf[:n])
			if see != nil {
				see(buf[:n])
			}
			m.addBytes(n)
		}
		if err != nil {
			return
		}
	}
}
