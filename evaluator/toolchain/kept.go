package toolchain

import (
	"fmt"

	"warpboard/evaluator/sandbox"
)

// What is kept of one stage's stream: its beginning and its end.
const (
	keptHead = 48 << 10
	keptTail = 16 << 10
)

// kept keeps the head and the tail of a stream, for a runner that serves several stages.
type kept struct {
	head, tail []byte
	cut        int64 // bytes between them that are gone
}

func (k *kept) write(b []byte) {
	n := min(len(b), keptHead-len(k.head))
	k.head = append(k.head, b[:n]...)
	k.tail = append(k.tail, b[n:]...)
	if over := len(k.tail) - keptTail; over > 0 {
		k.cut += int64(over)
		k.tail = append(k.tail[:0], k.tail[over:]...)
	}
}

// String is printable, with a note where bytes are missing.
func (k *kept) String() string {
	if k.cut == 0 {
		return sandbox.Text(append(k.head[:len(k.head):len(k.head)], k.tail...))
	}
	return fmt.Sprintf("%s\n[%d bytes are cut here]\n%s", sandbox.Text(k.head), k.cut, sandbox.Text(k.tail))
}
