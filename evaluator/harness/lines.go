package harness

import "bytes"

// Lines splits a stream of pieces of any size into lines. It buffers at most MaxBytes bytes; the rest of a longer line
// is dropped.
type Lines struct {
	MaxBytes int
	OnLine   func(line []byte) // not called for empty lines

	pending  []byte
	skipping bool // dropping the rest of a long line
}

// Feed adds the next piece of the stream.
func (l *Lines) Feed(b []byte) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			l.keep(b)
			return
		}
		l.keep(b[:end])
		l.Flush()
		b = b[end+1:]
	}
}

func (l *Lines) keep(b []byte) {
	if l.skipping {
		return
	}
	if free := l.MaxBytes - len(l.pending); len(b) > free {
		b, l.skipping = b[:free], true
	}
	l.pending = append(l.pending, b...)
}

// Flush passes the buffered line to OnLine, even if it is incomplete.
func (l *Lines) Flush() {
	if len(l.pending) > 0 {
		l.OnLine(l.pending)
	}
	l.pending, l.skipping = l.pending[:0], false
}
