package site

import (
	"bytes"
	"encoding/json"
)

// JSONWalker iterates over the tokens of a JSON text without building values. Create it with NewJSONWalker.
type JSONWalker struct {
	decoder        *json.Decoder
	openContainers []JSONContainer
}

// JSONContainer is an object or list that contains the current token.
type JSONContainer struct {
	IsList       bool
	ElementCount int    // number of complete elements of the list
	Key          string // current key of the object
	IsInValue    bool   // the key's value has not ended
}

// NewJSONWalker starts at the beginning of a text. If the text is invalid JSON, the iteration ends at the error.
func NewJSONWalker(text []byte) *JSONWalker {
	return &JSONWalker{decoder: json.NewDecoder(bytes.NewReader(text))}
}

// NextToken reads one token. It returns false at the end of the text or at an error.
func (w *JSONWalker) NextToken() bool {
	token, err := w.decoder.Token()
	if err != nil {
		return false
	}
	switch token {
	case json.Delim('{'), json.Delim('['):
		w.openContainers = append(w.openContainers, JSONContainer{IsList: token == json.Delim('[')})
		return true
	case json.Delim('}'), json.Delim(']'):
		w.openContainers = w.openContainers[:len(w.openContainers)-1]
	}
	if len(w.openContainers) == 0 {
		return true
	}
	switch in := &w.openContainers[len(w.openContainers)-1]; {
	case in.IsList:
		in.ElementCount++
	case in.IsInValue:
		in.IsInValue = false
	default:
		in.Key, in.IsInValue = token.(string)
	}
	return true
}

// OpenContainers returns the objects and lists that contain the current token, outermost first. The slice is valid
// until the next NextToken.
func (w *JSONWalker) OpenContainers() []JSONContainer { return w.openContainers }

// Offset returns the end of the last token as a byte offset.
func (w *JSONWalker) Offset() int64 { return w.decoder.InputOffset() }
