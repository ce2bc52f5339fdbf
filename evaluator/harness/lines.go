package harness

import "bytes"

// maxLine bounds one line of the result pipe; what is longer is cut and the rest of it dropped.
const maxLine = 1 << 20

// lines cuts a stream into lines, whatever the pieces it comes in, and never holds more than
// maxLine bytes.
type lines struct {
	pending []byte
	skip    bool // inside the dropped rest of an over-long line
	each    func(line []byte)
}

// feed takes the next piece of the stream.
func (l *lines) feed(b []byte) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			l.keep(b)
			return
		}
		l.keep(b[:end])
		l.flush()
		b = b[end+1:]
	}
}

func (l *lines) keep(b []byte) {
	if l.skip {
		return
	}
	if room := maxLine - len(l.pending); len(b) > room {
		b, l.skip = b[:room], true
	}
	l.pending = append(l.pending, b...)
}

// flush hands on what stands in the buffer: a whole line, or at the stream's end a broken one.
func (l *lines) flush() {
	if len(l.pending) > 0 {
		l.each(l.pending)
	}
	l.pending, l.skip = l.pending[:0], false
}
