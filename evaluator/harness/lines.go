package harness

import "bytes"

// Lines splits a stream into lines, independent of the size of its pieces. It buffers at most Max bytes: the rest of a
// longer line is dropped.
type Lines struct {
	Max  int
	Each func(line []byte) // not called for empty lines

	pending []byte
	skip    bool // dropping the rest of a long line
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
	if l.skip {
		return
	}
	if free := l.Max - len(l.pending); len(b) > free {
		b, l.skip = b[:free], true
	}
	l.pending = append(l.pending, b...)
}

// Flush passes the buffered line to Each: a complete line, or the unfinished one at the stream's end.
func (l *Lines) Flush() {
	if len(l.pending) > 0 {
		l.Each(l.pending)
	}
	l.pending, l.skip = l.pending[:0], false
}
