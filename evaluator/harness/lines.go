package harness

import "bytes"

// LineSplitter splits a stream of pieces of any size into lines. It buffers at most MaxBytes bytes; the rest of a
// longer line is dropped.
type LineSplitter struct {
	MaxBytes int
	OnLine   func(line []byte) // not called for empty lines

	partialLine  []byte
	skippingRest bool // the rest of a line that is too long is being dropped
}

// Feed adds the next piece of the stream.
func (l *LineSplitter) Feed(b []byte) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			l.bufferBytes(b)
			return
		}
		l.bufferBytes(b[:end])
		l.Flush()
		b = b[end+1:]
	}
}

func (l *LineSplitter) bufferBytes(b []byte) {
	if l.skippingRest {
		return
	}
	if free := l.MaxBytes - len(l.partialLine); len(b) > free {
		b, l.skippingRest = b[:free], true
	}
	l.partialLine = append(l.partialLine, b...)
}

// Flush passes the buffered line to OnLine, even if it is incomplete.
func (l *LineSplitter) Flush() {
	if len(l.partialLine) > 0 {
		l.OnLine(l.partialLine)
	}
	l.partialLine, l.skippingRest = l.partialLine[:0], false
}
