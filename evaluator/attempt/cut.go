package attempt

import (
	"fmt"
	"strings"
)

// TextSize is the size of a map of texts in bytes.
func TextSize(m map[string]string) int {
	n := 0
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

// Cut shortens s to about limit bytes by taking out its middle, with a note there.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	note := fmt.Sprintf(" [… %d bytes cut …] ", len(s)-limit)
	keep := max(0, limit-len(note))
	head, tail := strings.ToValidUTF8(s[:keep/2], ""), strings.ToValidUTF8(s[len(s)-keep/2:], "")
	return strings.TrimSpace(head + note + tail)
}
