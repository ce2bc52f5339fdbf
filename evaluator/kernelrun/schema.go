package kernelrun

// Schemas describes the requests and their parts as JSON Schema, by the names under which they refer
// to each other at "#/components/schemas/".
func Schemas() map[string]any {
	out := map[string]any{}
	for _, m := range []model{evaluateRequest(), compareRequest()} {
		m.collect(out)
	}
	return out
}

const schemaHome = "#/components/schemas/"

func (m model) schema() map[string]any { return map[string]any{"$ref": schemaHome + m.name} }

// collect adds the model and all that it uses.
func (m model) collect(into map[string]any) {
	properties, required := map[string]any{}, []string{}
	for _, f := range m.fields {
		properties[f.name] = f.schema()
		if f.required {
			required = append(required, f.name)
		}
		part := f.kind
		if l, ok := part.(list); ok {
			part = l.of
		}
		if used, ok := part.(model); ok {
			used.collect(into)
		}
	}
	into[m.name] = map[string]any{
		"type": "object", "description": m.about, "properties": properties, "required": required, "additionalProperties": !m.strict,
	}
}

func (f field) schema() map[string]any {
	s := f.kind.schema()
	if f.null {
		s = map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
	}
	s["description"] = f.about
	if f.standard != nil {
		s["default"] = f.standard
	}
	return s
}

func typed(name string) map[string]any { return map[string]any{"type": name} }

func (text) schema() map[string]any    { return typed("string") }
func (integer) schema() map[string]any { return typed("integer") }
func (number) schema() map[string]any  { return typed("number") }
func (boolean) schema() map[string]any { return typed("boolean") }
func (object) schema() map[string]any  { return typed("object") }

func (scalar) schema() map[string]any {
	return map[string]any{"type": []string{"integer", "number", "string", "boolean"}}
}

func (size) schema() map[string]any { return map[string]any{"type": []string{"integer", "string"}} }

func (e enum) schema() map[string]any {
	return map[string]any{"type": "string", "enum": []string(e)}
}

func (l list) schema() map[string]any {
	return map[string]any{"type": "array", "items": l.of.schema()}
}
