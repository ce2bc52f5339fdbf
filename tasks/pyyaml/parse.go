package pyyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of a YAML file's tree, with aliases expanded.
const (
	maxDepth = 16
	// maxNodes limits the values of a file: the largest tasks have some thousand. Aliases are copied, so ten lines
	// could expand to billions.
	maxNodes = 20_000
	// maxSeparators limits the lines, commas, and opening brackets, which are counted before parsing. They separate
	// values; texts contain some, too.
	maxSeparators = 2 * maxNodes
)

// Error describes an invalid file; Line is 0 if unknown.
type Error struct {
	Line    int // from 1; 0 for the whole file
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Parse parses the only document in data, expands aliases and merge keys, and refuses duplicate keys, deep nesting, too
// many aliases, and tags other than those of PyYAML.
func Parse(data []byte) (*yaml.Node, error) {
	if !utf8.Valid(data) {
		return nil, &Error{Message: "is not UTF-8 text"}
	}
	if hasMoreSeparators(data, maxSeparators) {
		return nil, &Error{Message: fmt.Sprintf("has more than %d lines, commas and brackets", maxSeparators)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, more yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, &Error{Message: "is empty"}
	} else if err != nil {
		return nil, syntaxError(err, data)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, &Error{Line: more.Line, Message: "holds a second YAML document; one is allowed"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(err, data)
	}
	e := aliasExpander{remainingNodes: maxNodes}
	return e.expandNode(document.Content[0], 0)
}

func hasMoreSeparators(data []byte, most int) bool {
	for _, separator := range []string{"\n", ",", "[", "{"} {
		most -= bytes.Count(data, []byte(separator))
	}
	return most < 0
}

var parserLinePattern = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError converts an error of the YAML library, which starts with "yaml: line N:", to an Error.
func syntaxError(err error, data []byte) *Error {
	message, line := err.Error(), 0
	if match := parserLinePattern.FindStringSubmatch(message); match != nil {
		line, _ = strconv.Atoi(match[1])
		message = strings.TrimPrefix(message, match[0])
	}
	if zeroBasedErrorPattern.MatchString(message) {
		line++
	}
	if strings.Contains(message, "cannot start any token") || strings.Contains(message, "a tab character") {
		if at := tabIndentedLine(string(data), line); at > 0 {
			return &Error{Line: at, Message: "the line is indented with a tab: YAML takes only spaces"}
		}
	}
	switch open := unclosedBracketLine(string(data)); {
	case open > 0 && open == line:
		message = "a bracket or quote is not closed"
	case open > 0 && open < line:
		message = fmt.Sprintf("a bracket or quote that was opened in line %d is not closed", open)
	}
	return &Error{Line: line, Message: "this is not valid YAML (" + message + ")"}
}

// tabIndentedLine returns the first line at or next to line that has a tab in its indentation, or 0.
func tabIndentedLine(text string, line int) int {
	lines := strings.Split(text, "\n")
	for at := max(line-1, 1); at <= min(line+1, len(lines)); at++ {
		rest := strings.TrimLeft(lines[at-1], " \t")
		if strings.TrimSpace(rest) != "" && strings.Contains(lines[at-1][:len(lines[at-1])-len(rest)], "\t") {
			return at
		}
	}
	return 0
}

// zeroBasedErrorPattern matches the errors whose line the YAML library counts from 0: those of its parser, not those of
// its scanner.
var zeroBasedErrorPattern = regexp.MustCompile(`^did not find expected (key|node content|'-' indicator|',' or '[\]}]'|<document start>|<stream-start>)`)

// aliasExpander copies a tree with its aliases expanded, up to a number of nodes.
type aliasExpander struct{ remainingNodes int }

func (e *aliasExpander) expandNode(node *yaml.Node, depth int) (*yaml.Node, error) {
	// An alias of a mapping inside itself is refused at maxDepth, and a large number of aliases at maxNodes.
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	e.remainingNodes--
	switch {
	case e.remainingNodes < 0:
		return nil, e.nodeError(node, "has more than %d values, aliases followed", maxNodes)
	case depth > maxDepth:
		return nil, e.nodeError(node, "is nested deeper than %d levels", maxDepth)
	case node.Style&yaml.TaggedStyle != 0 && !scalarTags[node.Tag]:
		return nil, e.nodeError(node, "the tag %q is not allowed", node.Tag)
	}
	out := *node
	out.Content = nil
	for _, child := range node.Content {
		c, err := e.expandNode(child, depth+1)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, c)
	}
	if out.Kind == yaml.MappingNode {
		return e.expandMapping(&out)
	}
	return &out, nil
}

var scalarTags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!seq": true, "!!map": true,
}

// expandMapping refuses duplicate keys and adds the keys of merge keys (<<). As in Python, a key has the position of
// its first occurrence, with merged keys first, and the value of its last occurrence. Keys are compared as text: 1 and
// "1" are equal here, unlike in Python.
func (e *aliasExpander) expandMapping(node *yaml.Node) (*yaml.Node, error) {
	lines := map[string]int{}
	var own, merged []*yaml.Node
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return nil, e.nodeError(key, "a key must be plain text")
		}
		if first, twice := lines[key.Value]; twice {
			return nil, e.nodeError(key, "the key %q appears twice (first in line %d)", key.Value, first)
		}
		lines[key.Value] = key.Line
		if key.Tag != "!!merge" {
			own = append(own, key, value)
			continue
		}
		for _, from := range slices.Backward(mergedMappings(value)) {
			merged = append(merged, from.Content...)
		}
	}
	if merged != nil {
		own = removeRepeatedKeys(append(merged, own...))
	}
	node.Content = own
	return node, nil
}

// removeRepeatedKeys removes repeated keys, keeping the first position and the last value.
func removeRepeatedKeys(pairs []*yaml.Node) []*yaml.Node {
	at := map[string]int{}
	var out []*yaml.Node
	for i := 0; i < len(pairs); i += 2 {
		if first, again := at[pairs[i].Value]; again {
			out[first], out[first+1] = pairs[i], pairs[i+1]
			continue
		}
		at[pairs[i].Value] = len(out)
		out = append(out, pairs[i], pairs[i+1])
	}
	return out
}

// mergedMappings returns the mappings that the value of a merge key refers to: the value itself, or each of a list.
func mergedMappings(value *yaml.Node) []*yaml.Node {
	candidates := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		candidates = slices.Clone(value.Content)
	}
	return slices.DeleteFunc(candidates, func(c *yaml.Node) bool { return c.Kind != yaml.MappingNode })
}

func (e *aliasExpander) nodeError(node *yaml.Node, format string, args ...any) *Error {
	return &Error{Line: node.Line, Message: fmt.Sprintf(format, args...)}
}
