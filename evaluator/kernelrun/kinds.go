package kernelrun

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpboard/internal/requirement"
)

// Problem is one invalid value in a request. Message and Type have the wording of pydantic 2, because clients compare
// them.
type Problem struct {
	Field   string `json:"field"` // path to the value, joined by " -> "
	Message string `json:"message"`
	Type    string `json:"type"`
	Hint    string `json:"hint,omitempty"` // how to correct the value, if known
}

// Sentence returns the message with the hint.
func (p Problem) Sentence() string {
	switch {
	case p.Hint == "":
		return p.Message + "."
	case strings.HasSuffix(p.Hint, "?"):
		return p.Message + "; " + p.Hint
	}
	return p.Message + "; " + p.Hint + "."
}

// keyPath is the path to a value in a request.
type keyPath []string

// child returns the path with an additional step. It limits the capacity, so that two fields of a model never share an
// array.
func (p keyPath) child(step string) keyPath { return append(p[:len(p):len(p)], step) }

func (p keyPath) newProblem(kind, message string) []Problem {
	return []Problem{{Field: strings.Join(p, " -> "), Message: message, Type: kind}}
}

// valueKind is the type of a value. It parses as leniently as pydantic: "12", 12.0, and true are integers.
//
// Values come from encoding/json with UseNumber: string, bool, json.Number, nil, []any, map[string]any. Anything else
// is a wrong type.
type valueKind interface {
	// read converts a value to the type, or returns the problems with it.
	read(at keyPath, value any) (any, []Problem)
	// schema returns the type as JSON Schema.
	schema() map[string]any
}

type (
	textKind            struct{}
	integerKind         struct{}
	numberKind          struct{}
	booleanKind         struct{}
	scalarKind          struct{} // int, float, str or bool
	objectKind          struct{} // any object
	enumKind            []string
	listKind            struct{ elementKind valueKind }
	caseInsensitiveKind struct{ enumKind } // an enumKind that ignores case
	// requirementsKind is the kind of a list of required Python packages; see package requirement.
	requirementsKind struct{}
	// dictKind is the kind of an object with arbitrary keys and values of one kind.
	dictKind struct {
		valueKind valueKind
		maxKeys   int // largest number of keys
	}
)

func (textKind) read(at keyPath, value any) (any, []Problem) {
	if s, ok := value.(string); ok {
		return s, nil
	}
	return nil, at.newProblem("string_type", "Input should be a valid string")
}

func (integerKind) read(at keyPath, value any) (any, []Problem) {
	switch v := value.(type) {
	case bool:
		// As in Python, True is 1.
		return map[bool]int64{true: 1}[v], nil
	case json.Number:
		return readInt(at, v.String(), "int_from_float", "Input should be a valid integer, got a number with a fractional part")
	case string:
		text := strings.ReplaceAll(strings.TrimSpace(v), "_", "")
		return readInt(at, text, "int_parsing", "Input should be a valid integer, unable to parse string as an integer")
	}
	return nil, at.newProblem("int_type", "Input should be a valid integer")
}

// readInt parses an integer of up to 64 bits. kind and message describe the problem with any other text.
func readInt(at keyPath, s, kind, message string) (any, []Problem) {
	n, ok := parseInt(s)
	if !ok {
		return nil, at.newProblem(kind, message)
	}
	if beyond, large := n.(json.Number); large {
		if _, err := strconv.ParseUint(beyond.String(), 10, 64); err != nil {
			return nil, at.newProblem("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
		}
	}
	return n, nil
}

// maxNumberLength exceeds the digits that a float64 ever needs.
const maxNumberLength = 1000

// parseInt parses an integer, also if written like 12.0. A number beyond int64 stays a json.Number.
func parseInt(s string) (any, bool) {
	if len(s) > maxNumberLength {
		return nil, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	if integerPattern.MatchString(s) {
		return json.Number(strings.TrimPrefix(s, "+")), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 || !numberPattern.MatchString(s) {
		return nil, false
	}
	return int64(f), true
}

var (
	integerPattern = regexp.MustCompile(`^[+-]?[0-9]+$`)
	numberPattern  = regexp.MustCompile(`^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$`)
	// expressionPattern is a filter, not a parser: it matches names, numbers, and operators, with at least one letter.
	// The worker's program evaluates the expression.
	expressionPattern = regexp.MustCompile(`^[\w\s()+*/%,-]*[A-Za-z_][\w\s()+*/%,-]*$`)
)

func (numberKind) read(at keyPath, value any) (any, []Problem) {
	s := ""
	switch v := value.(type) {
	case bool:
		return map[bool]float64{true: 1}[v], nil
	case json.Number:
		s = v.String()
	case string:
		s = strings.ReplaceAll(strings.TrimSpace(v), "_", "")
	default:
		return nil, at.newProblem("float_type", "Input should be a valid number")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, at.newProblem("float_parsing", "Input should be a valid number, unable to parse string as a number")
	}
	return f, nil
}

func (booleanKind) read(at keyPath, value any) (any, []Problem) {
	s := ""
	switch v := value.(type) {
	case bool:
		return v, nil
	case json.Number:
		s = strings.TrimSuffix(v.String(), ".0")
	case string:
		s = strings.ToLower(v)
	default:
		return nil, at.newProblem("bool_type", "Input should be a valid boolean")
	}
	switch s {
	case "1", "t", "true", "y", "yes", "on":
		return true, nil
	case "0", "f", "false", "n", "no", "off":
		return false, nil
	}
	return nil, at.newProblem("bool_parsing", "Input should be a valid boolean, unable to interpret input")
}

// read accepts a scalar of any kind: the argument's type is checked later. For other values it reports one problem for
// each of the four kinds, as pydantic does for a union.
func (scalarKind) read(at keyPath, value any) (any, []Problem) {
	switch v := value.(type) {
	case bool, string:
		return v, nil
	case json.Number:
		if integerPattern.MatchString(v.String()) {
			return integerKind{}.read(at, v)
		}
		return numberKind{}.read(at, v)
	}
	var problems []Problem
	for _, one := range []struct {
		name string
		kind valueKind
	}{{"int", integerKind{}}, {"float", numberKind{}}, {"str", textKind{}}, {"bool", booleanKind{}}} {
		_, wrong := one.kind.read(at.child(one.name), value)
		problems = append(problems, wrong...)
	}
	return nil, problems
}

func (objectKind) read(at keyPath, value any) (any, []Problem) {
	if m, ok := value.(map[string]any); ok {
		return m, unreadableProblems(at, m, maxNesting)
	}
	return nil, append(
		at.child("BaseKernelMetadata").newProblem("model_type", "Input should be a valid dictionary or instance of BaseKernelMetadata"),
		at.child("dict[str,any]").newProblem("dict_type", "Input should be a valid dictionary")...)
}

func (e enumKind) read(at keyPath, value any) (any, []Problem) {
	if s, ok := value.(string); ok {
		for _, known := range e {
			if s == known {
				return s, nil
			}
		}
	}
	quoted := "'" + strings.Join(e, "', '") + "'"
	if i := strings.LastIndex(quoted, ", "); i >= 0 {
		quoted = quoted[:i] + " or " + quoted[i+2:]
	}
	return nil, at.newProblem("enum", "Input should be "+quoted)
}

func (e caseInsensitiveKind) read(at keyPath, value any) (any, []Problem) {
	if s, ok := value.(string); ok {
		value = strings.ToLower(s)
	}
	return e.enumKind.read(at, value)
}

func (l listKind) read(at keyPath, value any) (any, []Problem) {
	items, ok := value.([]any)
	if !ok {
		return nil, at.newProblem("list_type", "Input should be a valid list")
	}
	out := make([]any, 0, len(items))
	var problems []Problem
	for i, item := range items {
		if len(problems) >= maxProblems {
			break
		}
		v, wrong := l.elementKind.read(at.child(strconv.Itoa(i)), item)
		out, problems = append(out, v), append(problems, wrong...)
	}
	return out, problems
}

func (requirementsKind) read(at keyPath, value any) (any, []Problem) {
	if items, ok := value.([]any); ok && len(items) > requirement.MaxRequirements {
		return nil, at.newProblem("too_long", fmt.Sprintf("List should have at most %d items", requirement.MaxRequirements))
	}
	read, problems := listKind{textKind{}}.read(at, value)
	if len(problems) > 0 {
		return nil, problems
	}
	var texts []string
	for _, item := range read.([]any) {
		texts = append(texts, item.(string))
	}
	canonical, i, err := requirement.ParseList(texts)
	if err != nil {
		return nil, at.child(strconv.Itoa(i)).newProblem("value_error", "Value error, "+err.Error())
	}
	return canonical, nil
}

func (d dictKind) read(at keyPath, value any) (any, []Problem) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, at.newProblem("dict_type", "Input should be a valid dictionary")
	}
	if len(given) > d.maxKeys {
		return nil, at.newProblem("too_long", fmt.Sprintf("Dictionary should have at most %d items", d.maxKeys))
	}
	out := make(map[string]any, len(given))
	var problems []Problem
	for _, key := range slices.Sorted(maps.Keys(given)) {
		v, wrong := d.valueKind.read(at.child(key), given[key])
		out[key], problems = v, append(problems, wrong...)
	}
	return out, problems
}

// model is the kind of an object of the API. One table of fields both parses and describes requests.
type model struct {
	name               string
	description        string
	refusesUnknownKeys bool // refuse every unknown key; otherwise UnknownKeyPolicy decides
	fields             []field
	check              fieldCheck // nil if there are no conflicts between fields
}

// fieldCheck returns problems with combinations of fields that are valid individually. It may change the parsed values.
type fieldCheck func(at keyPath, given, read map[string]any) []Problem

type field struct {
	name              string
	kind              valueKind
	required          bool
	optionalIfPresent string // name of another field; if that is present, this one is optional
	nullable          bool   // null is allowed
	defaultValue      any    // default value
	description       string
}

func (m model) read(at keyPath, value any) (any, []Problem) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, at.newProblem("model_type", "Input should be a valid dictionary or instance of "+m.name)
	}
	out := make(map[string]any, len(m.fields))
	var problems []Problem
	for _, f := range m.fields {
		v, wrong := f.read(at.child(f.name), given)
		out[f.name], problems = v, append(problems, wrong...)
	}
	if m.refusesUnknownKeys {
		problems = append(problems, m.unknownKeyProblems(at, given)...)
	}
	if m.check != nil && len(problems) == 0 {
		problems = m.check(at, given, out)
	}
	return out, problems
}

// unknownKeyProblems returns the problems with keys that the model does not have.
func (m model) unknownKeyProblems(at keyPath, given map[string]any) (problems []Problem) {
	known := m.keyNames()
	for _, key := range unknownKeys(given, known, maxProblems) {
		problems = append(problems, unknownKeyProblem(at.child(key), key, known))
	}
	return problems
}

func (f field) read(at keyPath, given map[string]any) (any, []Problem) {
	value, there := given[f.name]
	switch {
	case !there && f.required && given[f.optionalIfPresent] == nil:
		return nil, at.newProblem("missing", "Field required")
	// A null value means "not given" for nullable fields, so that clients can send every key.
	case !there, value == nil && f.nullable:
		return f.defaultValue, nil
	}
	return f.kind.read(at, value)
}
