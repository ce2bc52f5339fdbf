package mcp

import (
	"slices"
	"strings"

	"warpboard/internal/jsonwalk"
)

// MostAside is how many bytes a message may have beside the arguments that hold sources: the SDK copies some of them a dozen
// times, and repeats them in its answers.
const MostAside = 128 << 10

// IsSane reports whether no more than MostAside of a message is anything but sources. A message that is not JSON has none.
func IsSane(message []byte) bool {
	if len(message) <= MostAside {
		return true
	}
	return len(message)-bytesOfSources(message) <= MostAside
}

// bytesOfSources is how much of a message are the arguments of a call that may be large. It reads the message once, as far as it is
// JSON.
func bytesOfSources(message []byte) (n int) {
	w, began := jsonwalk.New(message), int64(0)
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

// holdsSources reports whether an argument may be large: of sources, or of tensors' bytes.
func holdsSources(argument string) bool {
	return strings.HasSuffix(argument, "source") || strings.HasSuffix(argument, "io") || slices.Contains([]string{"files", "request", "io_contract"}, argument)
}
