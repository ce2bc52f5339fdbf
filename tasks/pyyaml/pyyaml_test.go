package pyyaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"warpboard/e2e/fuzztest"
)

func parse(t *testing.T, text string) *yaml.Node {
	t.Helper()
	node, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return node
}

// TestScalarsHavePythonsTypeAndText compares with the output of Python 3.11 and PyYAML 6.0 for
// str(yaml.safe_load(value)).
func TestScalarsHavePythonsTypeAndText(t *testing.T) {
	for text, want := range map[string]ScalarValue{
		"7": {Text: "7", IsInt: true}, "1:30": {Text: "90", IsInt: true}, "0b_": {Text: "0b_", IsInt: true},
		"yes": {Text: "True", IsBool: true}, "OFF": {Text: "False", IsBool: true},
		"~": {Text: "None", IsNull: true}, "1.5": {Text: "1.5"}, "-.inf": {Text: "-inf"},
		"1e5": {Text: "1e5", IsText: true}, "'7'": {Text: "7", IsText: true}, "!!str 7": {Text: "7", IsText: true},
		"|\n  7": {Text: "7", IsText: true},
	} {
		if got := InterpretScalar(parse(t, text)); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
	if long := strings.Repeat("9", maxNumber+1); !InterpretUnquoted(long).IsText {
		t.Error("a number without end is read")
	}
}

func TestNullIsAScalarOnly(t *testing.T) {
	for text, want := range map[string]bool{"~": true, "null": true, "NULL": true, "a:": false, "[]": false,
		"'null'": false, "0": false} {
		if got := IsNull(parse(t, text)); got != want {
			t.Errorf("%q is null: %v", text, got)
		}
	}
	if !IsNull(parse(t, "a:").Content[1]) {
		t.Error("a key without a value is not null")
	}
}

func TestListsAreWrittenAsPythonDoes(t *testing.T) {
	for text, want := range map[string]string{
		`["\x01", "\u2028", "\U0001F600", "\t\r"]`: `['\x01', '\u2028', '😀', '\t\r']`,
		`["\uFEFF", "\U000E0001"]`:                 `['\ufeff', '\U000e0001']`,
		`[[yes], 'a"b', "it's"]`:                   `[[True], 'a"b', "it's"]`,
	} {
		if got, ok := PythonText(parse(t, text)); !ok || got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"a: 1", "[a: 1]", "[[{a: 1}]]"} {
		if got, ok := PythonText(parse(t, text)); ok {
			t.Errorf("the mapping in %s became %s", text, got)
		}
	}
}

func TestMergedKeysStandWhereTheyFirstCame(t *testing.T) {
	const text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\nmine:\n  y: 9\n  <<: [*b, *m]\n  w: 0\n"
	var keys []string
	mine := parse(t, text).Content[5]
	for i := 0; i < len(mine.Content); i += 2 {
		keys = append(keys, mine.Content[i].Value+"="+mine.Content[i+1].Value)
	}
	// yaml.safe_load gives {'y': 9, 'z': 4, 'x': 1, 'w': 0}
	if got := strings.Join(keys, " "); got != "y=9 z=4 x=1 w=0" {
		t.Errorf("got %s", got)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]Error{
		"":                       {0, "is empty"},
		"\xff":                   {0, "is not UTF-8 text"},
		"a: 1\nb: 2\na: 3\n":     {3, `the key "a" appears twice (first in line 1)`},
		"a: 1\n---\nb: 2\n":      {2, "holds a second YAML document; one is allowed"},
		"x:\n  - !!binary aGk=":  {2, `the tag "!!binary" is not allowed`},
		"? [a]\n: 1":             {1, "a key must be plain text"},
		"a: 1\nb: [1, 2\nc: 3\n": {2, "this is not valid YAML (a bracket or quote is not closed)"},
		"a: {\n b: 1\n": {3,
			"this is not valid YAML (a bracket or quote that was opened in line 1 is not closed)"},
		"a: 1\n- x\n":     {2, "this is not valid YAML (did not find expected key)"},
		"a: 1\nb: ]\n":    {2, "this is not valid YAML (did not find expected node content)"},
		"a: 1\nb: x: y\n": {2, "this is not valid YAML (mapping values are not allowed in this context)"},
	} {
		_, err := Parse([]byte(text))
		got, ok := errors.AsType[*Error](err)
		if !ok || *got != want {
			t.Errorf("%q: %v, want %v", text, err, &want)
		}
	}
	if got := (&Error{Line: 2, Message: "is odd"}).Error() + "; " +
		(&Error{Message: "is empty"}).Error(); got != "line 2: is odd; is empty" {
		t.Error(got)
	}
}

func TestErrorsNameTheLineOfAnOpenBracketOrQuote(t *testing.T) {
	const rest = "lang: cpp\ntests: [{a: 1}]\ntext: |\n  it's a[0] {of \"many\n"
	for name, test := range map[string]struct {
		text string
		line int
	}{
		"a list":                   {"a: 1\ngpus: [CPU\n" + rest, 2},
		"a mapping in a list":      {"a: 1\ntests:\n  - {size: 1\n" + rest, 3},
		"a bracket of another":     {"tests: [\n  {a: 1},\n  {b: 2\n]\n" + rest, 3},
		"a quote":                  {"a: 1\ntitle: 'Sum\nb: 'of'\n" + rest, 2},
		"a quote to the end":       {"a: 1\nb: \"c\n", 2},
		"an apostrophe in words":   {"a: 1\nb: it's: c\n" + rest, 0},
		"a quote that is written":  {"a: 'it''s'\nb: \"\\\"\"\nc: d: e\n" + rest, 0},
		"a list over lines":        {"a: [1,\n  2]\nb: c: d\n" + rest, 0},
		"a quote over lines":       {"a: 'b\n  c'\nb: c: d\n" + rest, 0},
		"a comment":                {"a: 1 # [\nb: c: d\n" + rest, 0},
		"brackets in a text":       {"a: |\n  [ {\n  '\nb: c: d\n" + rest, 0},
		"brackets in plain words":  {"a: b[c\nb: c: d\n" + rest, 0},
		"a list below the mistake": {"b: c: d\na: [1\n", 0},
	} {
		_, err := Parse([]byte(test.text))
		if err == nil {
			t.Errorf("%s: it is valid", name)
			continue
		}
		reported := strings.Contains(err.Error(), "is not closed")
		here := strings.HasPrefix(err.Error(), fmt.Sprintf("line %d: ", test.line)) &&
			strings.Contains(err.Error(), "quote is not closed")
		there := strings.Contains(err.Error(), fmt.Sprintf("opened in line %d is", test.line))
		if reported != (test.line > 0) || reported && !here && !there {
			t.Errorf("%s: %v, want line %d", name, err, test.line)
		}
	}
}

func FuzzParse(f *testing.F) {
	fuzztest.Moment(f)
	f.Add([]byte("a: &x [1, 2]\nb: *x\n<<: {c: 012}\n"))
	f.Add([]byte("- !!str 1\n- 1:2\n- ~\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := Parse(data)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%v is not an Error", err)
			}
			return
		}
		left := maxNodes
		walk(t, root, 0, &left)
	})
}

// walk fails the test if a tree exceeds the limits, contains an alias, or has a scalar without a text.
func walk(t *testing.T, node *yaml.Node, depth int, left *int) {
	t.Helper()
	// merge keys may double the number of nodes
	if *left--; *left < -maxNodes || depth > maxDepth || node.Kind == yaml.AliasNode {
		t.Fatalf("%d nodes left at depth %d, kind %v", *left, depth, node.Kind)
	}
	if _, ok := PythonText(node); node.Kind == yaml.ScalarNode && !ok {
		t.Fatalf("%q has no text", node.Value)
	}
	for _, child := range node.Content {
		walk(t, child, depth+1, left)
	}
}
