package mcp

import (
	"slices"
	"strings"

	"warpboard/web/site"
)

// MaxBytesOutsideSources limits the size of a message without its source arguments, because the SDK copies some
// arguments a dozen times and repeats them in its responses.
const MaxBytesOutsideSources = 128 << 10

// HasAcceptableSize reports whether a message has at most MaxBytesOutsideSources bytes outside its sources. Invalid
// JSON counts as having no sources.
func HasAcceptableSize(message []byte) bool {
	if len(message) <= MaxBytesOutsideSources {
		return true
	}
	return len(message)-bytesOfSources(message) <= MaxBytesOutsideSources
}

// bytesOfSources returns the size of the arguments that may be large, in bytes. It reads the message once, up to the
// first error.
func bytesOfSources(message []byte) (n int) {
	w, began := site.NewJSONWalker(message), int64(0)
	for w.NextToken() && len(w.OpenContainers()) > 0 {
		open := w.OpenContainers()
		if len(open) != 3 || open[0].Key != "params" || open[1].Key != "arguments" {
			continue
		}
		switch in := open[2]; {
		case in.IsInValue:
			began = w.Offset()
		case mayHoldSources(in.Key):
			n += int(w.Offset() - began)
		}
	}
	return n
}

// mayHoldSources reports whether the named argument may be large, because it contains sources or the data of tensors.
func mayHoldSources(argument string) bool {
	return strings.HasSuffix(argument, "source") || strings.HasSuffix(argument, "io") || slices.Contains([]string{"files", "request", "io_contract"}, argument)
}
