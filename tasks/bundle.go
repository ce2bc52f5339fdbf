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

// ContentHash returns the content hash of a task version, in hex: equal for equal definitions and files. The name and
// origin of the task, and Name and Warnings, are not included. It hashes the definition as JSON: a field added to
// Definition without omitempty changes the key of every stored task, and so creates new versions at the next start.
func (b *Bundle) ContentHash() string {
	h := sha256.New()
	definition, err := json.Marshal(b.Definition)
	if err != nil {
		panic(fmt.Sprintf("tasks: a definition of plain values does not marshal: %v", err))
	}
	writeHashPart(h, "definition", definition)
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		writeHashPart(h, name, b.Files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeHashPart writes a name and data, each after its length, so that different bundles never hash the same bytes.
func writeHashPart(h hash.Hash, name string, data []byte) {
	fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(data))
	h.Write(data)
}

// Template returns the text of the template with a label; ok is false if the bundle has none.
func (b *Bundle) Template(label string) (data []byte, ok bool) {
	name, ok := b.Definition.Templates[label]
	if !ok {
		return nil, false
	}
	data, ok = b.Files[name]
	return data, ok
}
