// Package jsonwalk follows a JSON text token by token and tracks its place: in which objects and lists, at which key or
// element. It builds no values, and stores only the open places.
package jsonwalk

import (
	"bytes"
	"encoding/json"
)

// Walk is a way through one text. Make it with New.
type Walk struct {
	decoder *json.Decoder
	open    []Place
}

// Place is an object or a list that is open.
type Place struct {
	List   bool
	Number int    // elements of the list that have ended
	Key    string // the last one of the object
	Valued bool   // the key has been read, its value has not ended
}

// New begins at the start of a text, which may be cut off or broken: the walk ends there.
func New(text []byte) *Walk { return &Walk{decoder: json.NewDecoder(bytes.NewReader(text))} }

// Step reads one token; it reports false at the end of what is JSON.
func (w *Walk) Step() bool {
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
	case in.Valued:
		in.Valued = false
	default:
		in.Key, in.Valued = token.(string)
	}
	return true
}

// Open are the objects and lists around the place that was reached, the outermost first. It is valid until the next Step.
func (w *Walk) Open() []Place { return w.open }

// Offset is the end of the token that was read last, in bytes from the beginning of the text.
func (w *Walk) Offset() int64 { return w.decoder.InputOffset() }
