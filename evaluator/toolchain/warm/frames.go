package warm

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The types of frames; warm.py in the harness's runner programs describes them.
const (
	frameReady  = 'w'
	frameStdout = 'o'
	frameStderr = 'e'
	frameResult = 'r'
	frameEnded  = 'x'
)

// maxFrame is above what warm.py ever sends at once.
const maxFrame = 1 << 20

type frame struct {
	kind byte
	data []byte
}

// readFrame reads one frame; io.EOF means that the Python is gone.
func readFrame(from io.Reader) (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return frame{}, io.EOF
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return frame{}, fmt.Errorf("the warm Python sent a frame of %d bytes", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(from, data); err != nil {
		return frame{}, io.EOF
	}
	return frame{kind: head[0], data: data}, nil
}
