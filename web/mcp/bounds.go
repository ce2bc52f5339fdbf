package mcp

import (
	"slices"
	"strings"

	"warpboard/web/site"
)

// MaxOtherBytes limits the size of a message without its source arguments, because the SDK copies some arguments a
// dozen times and repeats them in its responses.
const MaxOtherBytes = 128 << 10

// HasAcceptableSize reports whether a message has at most MaxOtherBytes bytes outside its sources. Invalid JSON counts
// as having no sources.
func HasAcceptableSize(message []byte) bool {
	if len(message) <= MaxOtherBytes {
		return true
	}
	return len(message)-bytesOfSources(message) <= MaxOtherBytes
}

// bytesOfSources returns the size of the arguments that may be large, in bytes. It reads the message once, up to the
// first error.
func bytesOfSources(message []byte) (n int) {
	w, began := site.NewJSONWalk(message), int64(0)
	for w.Step() && len(w.Open()) > 0 {
		open := w.Open()
		if len(open) != 3 || open[0].Key != "params" || open[1].Key != "arguments" {
			continue
		}
		switch in := open[2]; {
		case in.InValue:
			began = w.Offset()
		case holdsSources(in.Key):
			n += int(w.Offset() - began)
		}
	}
	return n
}

// holdsSources reports whether the named argument may be large, because it contains sources or the data of tensors.
func holdsSources(argument string) bool {
	return strings.HasSuffix(argument, "source") || strings.HasSuffix(argument, "io") || slices.Contains([]string{"files", "request", "io_contract"}, argument)
}
