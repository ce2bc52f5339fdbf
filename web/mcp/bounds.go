package mcp

import (
	"slices"
	"strings"

	"warpboard/web/site"
)

// MaxOtherBytes limits the bytes of a message besides the arguments that hold sources: the SDK copies some of them a
// dozen times, and repeats them in its answers.
const MaxOtherBytes = 128 << 10

// IsSane reports whether a message has at most MaxOtherBytes bytes besides its sources. Invalid JSON has no sources.
func IsSane(message []byte) bool {
	if len(message) <= MaxOtherBytes {
		return true
	}
	return len(message)-bytesOfSources(message) <= MaxOtherBytes
}

// bytesOfSources counts the bytes of a call's arguments that may be large. It reads the message once, up to the first
// error.
func bytesOfSources(message []byte) (n int) {
	w, began := site.NewJSONWalk(message), int64(0)
	for w.Step() && len(w.Open()) > 0 {
		open := w.Open()
		if len(open) != 3 || open[0].Key != "params" || open[1].Key != "arguments" {
			continue
		}
		switch in := open[2]; {
		case in.Valued:
			began = w.Offset()
		case holdsSources(in.Key):
			n += int(w.Offset() - began)
		}
	}
	return n
}

// holdsSources reports whether an argument may be large: it has sources, or tensors' bytes.
func holdsSources(argument string) bool {
	return strings.HasSuffix(argument, "source") || strings.HasSuffix(argument, "io") || slices.Contains([]string{"files", "request", "io_contract"}, argument)
}
