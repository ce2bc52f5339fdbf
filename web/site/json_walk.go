package site

import (
	"bytes"
	"encoding/json"
)

// JSONWalk iterates over the tokens of a JSON text without building values. Create it with NewJSONWalk.
type JSONWalk struct {
	decoder *json.Decoder
	open    []Place
}

// Place is an object or list that contains the current token.
type Place struct {
	List    bool
	Number  int    // number of complete elements of the list
	Key     string // current key of the object
	InValue bool   // the key's value has not ended
}

// NewJSONWalk starts at the beginning of a text. If the text is invalid JSON, the iteration ends at the error.
func NewJSONWalk(text []byte) *JSONWalk {
	return &JSONWalk{decoder: json.NewDecoder(bytes.NewReader(text))}
}

// Step reads one token. It returns false at the end of the text or at an error.
func (w *JSONWalk) Step() bool {
	token, err := w.decoder.Token()
	if err != nil {
		return false
	}
	switch token {
	case json.Delim('{'), json.Delim('['):
		w.open = append(w.open, Place{List: token == json.Delim('[')})
		return true
	case json.Delim('}'), json.Delim(']'):
		w.open = w.open[:len(w.open)-1]
	}
	if len(w.open) == 0 {
		return true
	}
	switch in := &w.open[len(w.open)-1]; {
	case in.List:
		in.Number++
	case in.InValue:
		in.InValue = false
	default:
		in.Key, in.InValue = token.(string)
	}
	return true
}

// Open returns the objects and lists that contain the current token, outermost first. The slice is valid until the next
// Step.
func (w *JSONWalk) Open() []Place { return w.open }

// Offset returns the end of the last token as a byte offset.
func (w *JSONWalk) Offset() int64 { return w.decoder.InputOffset() }
