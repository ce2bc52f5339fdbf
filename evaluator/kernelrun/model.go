package kernelrun

import (
	"maps"
	"slices"
)

// model is an object of the API. One table of fields reads requests and describes them.
type model struct {
	name   string
	about  string
	strict bool // every unknown key is refused; elsewhere as Extras says
	fields []field
}

type field struct {
	name     string
	kind     kind
	required bool
	null     bool // null is a value too
	standard any  // the value of a field that is absent
	about    string
}

func (m model) read(at path, value any) (any, []Problem) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, at.problem("model_type", "Input should be a valid dictionary or instance of "+m.name)
	}
	out := make(map[string]any, len(m.fields))
	var problems []Problem
	for _, f := range m.fields {
		v, wrong := f.read(at.to(f.name), given)
		out[f.name], problems = v, append(problems, wrong...)
	}
	if !m.strict {
		return out, problems
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if _, known := out[key]; !known {
			problems = append(problems, extra(at.to(key), key, m.names()))
		}
	}
	return out, problems
}

func (f field) read(at path, given map[string]any) (any, []Problem) {
	value, there := given[f.name]
	switch {
	case !there && f.required:
		return nil, at.problem("missing", "Field required")
	case !there, value == nil && f.null:
		return f.standard, nil
	}
	return f.kind.read(at, value)
}
