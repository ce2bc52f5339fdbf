package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
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
func bytesOfSources(message []byte) (bytesOf int) {
	from, open := json.NewDecoder(bytes.NewReader(message)), []level{}
	for {
		token, err := from.Token()
		if err != nil {
			return bytesOf
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open = append(open, level{isObject: token == json.Delim('{')})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return bytesOf
		}
		in := &open[len(open)-1]
		if in.isObject && !in.keyed {
			in.key, in.keyed = token.(string)
			in.began = from.InputOffset()
			continue
		}
		in.keyed = false
		if len(open) == 3 && open[0].key == "params" && open[1].key == "arguments" && holdsSources(in.key) {
			bytesOf += int(from.InputOffset() - in.began)
		}
	}
}

// level is an object or a list that is open, with the last key of an object.
type level struct {
	isObject, keyed bool
	key             string
	began           int64 // where its value does
}

// holdsSources reports whether an argument may be large: of sources, or of tensors' bytes.
func holdsSources(argument string) bool {
	return strings.HasSuffix(argument, "source") || strings.HasSuffix(argument, "io") || slices.Contains([]string{"files", "request", "io_contract"}, argument)
}
