package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
)

// Key is the content hash of a task version, in hex: equal for equal definitions and files,
// whatever the task is called and wherever it came from.
// It hashes the definition as JSON. A field that is added to Definition without omitempty gives every stored task another
// key, and with it another version at the next start. Name and Warnings are not in it.
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

// Template gives the text of the template with that label.
func (b *Bundle) Template(label string) (data []byte, ok bool) {
	name, ok := b.Definition.Templates[label]
	if !ok {
		return nil, false
	}
	data, ok = b.Files[name]
	return data, ok
}
