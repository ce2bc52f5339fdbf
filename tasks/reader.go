package tasks

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/parse"
	"warpboard/tasks/pyyaml"
)

// yamlReader extracts typed values from a YAML tree and collects all problems, so that one reading reports all of them.
type yamlReader struct {
	file     string
	problems parse.Problems
}

// yamlFields are the values of a mapping by key; keys with a null value are omitted.
type yamlFields map[string]*yaml.Node

func (r *yamlReader) addProblem(node *yaml.Node, key, format string, args ...any) {
	line := 0
	if node != nil {
		line = node.Line
	}
	r.problems.Add(parse.Problem{File: r.file, Line: line, Key: key, Message: fmt.Sprintf(format, args...)})
}

// readMapping reads a mapping and reports each unknown key.
func (r *yamlReader) readMapping(node *yaml.Node, key string, known ...string) yamlFields {
	out := yamlFields{}
	for name, value := range r.mappingPairs(node, key) {
		if !slices.Contains(known, name.Value) {
			r.addProblem(name, joinKey(key, name.Value), "unknown key%s", pyyaml.SuggestKey(name.Value, known))
		} else if !pyyaml.IsNull(value) {
			out[name.Value] = value
		}
	}
	return out
}

// mappingPairs iterates over a mapping in file order; it reports a node of another kind and treats it as empty.
func (r *yamlReader) mappingPairs(node *yaml.Node, key string) func(func(name, value *yaml.Node) bool) {
	return func(yield func(name, value *yaml.Node) bool) {
		if node == nil {
			return
		}
		if node.Kind != yaml.MappingNode {
			r.addProblem(node, key, "must be a mapping of keys to values")
			return
		}
		for i := 0; i < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// readItems returns the elements of a list; nil if the key is absent.
func (r *yamlReader) readItems(node *yaml.Node, key string) []*yaml.Node {
	if node == nil {
		return nil
	}
	if node.Kind != yaml.SequenceNode {
		r.addProblem(node, key, "must be a list")
		return nil
	}
	return node.Content
}

// readScalar returns the text of a scalar without interpreting it; "" if the key is absent.
func (r *yamlReader) readScalar(node *yaml.Node, key string) string {
	if node == nil {
		return ""
	}
	if node.Kind != yaml.ScalarNode {
		r.addProblem(node, key, "must be text")
		return ""
	}
	return node.Value
}

// readTexts returns a list of non-empty texts.
func (r *yamlReader) readTexts(node *yaml.Node, key string) []string {
	var out []string
	for i, item := range r.readItems(node, key) {
		at := indexedKey(key, i)
		text := r.readScalar(item, at)
		if item.Kind == yaml.ScalarNode && strings.TrimSpace(text) == "" {
			r.addProblem(item, at, "is empty")
		}
		out = append(out, text)
	}
	return out
}

// readInteger returns a whole number; ok is false if it is absent or refused.
func (r *yamlReader) readInteger(node *yaml.Node, key string) (n int64, ok bool) {
	if node == nil {
		return 0, false
	}
	if node.Kind == yaml.ScalarNode {
		if value := pyyaml.InterpretScalar(node); value.IsInt {
			if n, err := strconv.ParseInt(value.Text, 10, 64); err == nil {
				return n, true
			}
		}
	}
	if isRange(node.Value) {
		r.addProblem(node, key, "must be a whole number; only arguments of tests and benchmarks can be ranges")
		return 0, false
	}
	r.addProblem(node, key, "must be a whole number")
	return 0, false
}

// readBoolean returns a boolean; if the key is absent, it returns the argument otherwise.
func (r *yamlReader) readBoolean(node *yaml.Node, key string, otherwise bool) bool {
	if node == nil {
		return otherwise
	}
	if node.Kind == yaml.ScalarNode {
		if value := pyyaml.InterpretScalar(node); value.IsBool {
			return value.Text == "True"
		}
	}
	r.addProblem(node, key, "must be true or false")
	return otherwise
}

func joinKey(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func indexedKey(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }

// parseYAML parses a file of at most MaxYAML bytes.
func parseYAML(file string, data []byte) (*yaml.Node, error) {
	if len(data) > MaxYAML {
		return nil, parse.Problem{File: file, Message: fmt.Sprintf("is larger than %s", parse.SizeText(MaxYAML))}
	}
	root, err := pyyaml.Parse(data)
	if wrong, ok := errors.AsType[*pyyaml.Error](err); ok {
		return nil, parse.Problem{File: file, Line: wrong.Line, Message: wrong.Message}
	}
	return root, err
}

// NearestName returns the name in known for which name is probably a typing error: at most two letters, and at most
// half of them, are different, or one is a part of the other. It returns "" if there is none. Its time grows with the
// length of name: a long name has no match.
func NearestName(name string, known []string) string {
	if len(name) > maxNearestName {
		return ""
	}
	best, least := "", 3
	for _, k := range known {
		if d := pyyaml.EditDistance(strings.ToLower(name), k); d < least && 2*d <= max(len(name), len(k)) {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if isSimilarPart(name, k) || isSimilarPart(k, name) {
			return k
		}
	}
	return ""
}

// maxNearestName limits the letters of a name for which NearestName searches.
const maxNearestName = 64

// minNamePartLength is the minimum length of a name that may match a longer name that contains it.
const minNamePartLength = 4

func isSimilarPart(part, whole string) bool {
	plain := func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "_", ""), "-", "")
	}
	part, whole = plain(part), plain(whole)
	return len(part) >= minNamePartLength && strings.Contains(whole, part)
}
