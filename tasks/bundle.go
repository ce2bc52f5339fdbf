package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"unicode/utf8"
)

// Key is the content hash of a task version, in hex: equal for equal definitions and files,
// whatever the task is called and wherever it came from.
func (b *Bundle) Key() string {
	h := sha256.New()
	definition, err := json.Marshal(b.Definition)
	if err != nil {
		panic(fmt.Sprintf("tasks: a definition of plain values does not marshal: %v", err))
	}
	hashPart(h, "definition", definition)
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		hashPart(h, name, b.Files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashPart writes lengths before texts, so that no two different bundles write the same bytes.
func hashPart(h hash.Hash, name string, data []byte) {
	fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(data))
	h.Write(data)
}

// Size is the number of bytes of all files of the bundle.
func (b *Bundle) Size() int64 {
	var total int64
	for _, data := range b.Files {
		total += int64(len(data))
	}
	return total
}

// Resolve gives the text of every entry of `files` by its run-time name, with the submission in
// its place. It fails if the bundle lacks a file, or if the submission is empty, too large or
// not UTF-8.
func (b *Bundle) Resolve(submission []byte) (map[string][]byte, error) {
	if err := CheckSubmission(submission); err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(b.Definition.Files))
	for _, f := range b.Definition.Files {
		if f.IsSubmission() {
			out[f.Name] = submission
			continue
		}
		data, ok := b.Files[f.Source]
		if !ok {
			return nil, fmt.Errorf("the task %s lacks its file %q", b.Name, f.Source)
		}
		out[f.Name] = data
	}
	return out, nil
}

// CheckSubmission says why a text cannot be a submission, as a Problem.
func CheckSubmission(source []byte) error {
	switch {
	case len(source) == 0:
		return Problem{Message: "the submission is empty"}
	case len(source) > MaxSubmission:
		return Problem{Message: fmt.Sprintf("the submission is larger than %d bytes", MaxSubmission)}
	case !utf8.Valid(source):
		return Problem{Message: "the submission is not UTF-8 text"}
	}
	return nil
}

// Template gives the text of the template with that label.
func (b *Bundle) Template(label string) (data []byte, ok bool) {
	name, ok := b.Definition.Templates[label]
	if !ok {
		return nil, false
	}
	data, ok = b.Files[name]
	return data, ok
}
