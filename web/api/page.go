package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
)

// ShowDocumentation shows the OpenAPI document.
func (a *API) ShowDocumentation(c *fiber.Ctx) error {
	document, err := a.apiDocument()
	if err != nil {
		return err
	}
	read, err := readSchemas(document)
	if err != nil {
		return err
	}
	page := views.APIPage{
		Page: a.site.Page(c, "API", "api"),
		Spec: "/api/v1/openapi.json",
		Site: a.site.Settings.BaseURL,
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		page.Schemas = append(page.Schemas, views.APISchema{
			Name: name, About: read[name].Description, Fields: read[name].fields(),
			Either: read[name].alternativeNames()})
	}
	for _, o := range a.operations() {
		last := len(page.Groups) - 1
		if last < 0 || page.Groups[last].Name != o.tag {
			page.Groups, last = append(page.Groups, views.APIGroup{Name: o.tag}), last+1
		}
		page.Groups[last].Operations = append(page.Groups[last].Operations, views.APIOperation{
			Method: o.method, Path: o.path, Summary: o.summary, Token: o.needsToken, Status: fmt.Sprint(o.successStatus),
			Takes: o.bodyType, Gives: schemaName(o.answerSchema), Parameters: o.queryFields(),
		})
	}
	return a.site.Render(c, fiber.StatusOK, views.APIDoc(page))
}

func (o operation) queryFields() []views.APIField {
	var fields []views.APIField
	for _, name := range slices.Sorted(maps.Keys(o.queryParameters)) {
		fields = append(fields, views.APIField{
			Name:  "?" + name,
			Type:  fmt.Sprint(queryType(name)["type"]),
			About: o.queryParameters[name],
		})
	}
	return fields
}

// schemaName returns the name of the first schema that schema references, also in a nested part, or "".
func schemaName(schema map[string]any) string {
	text, _ := json.Marshal(schema) // cannot fail: the schema has only maps and strings
	_, name, found := strings.Cut(string(text), `"#/components/schemas/`)
	if !found {
		return ""
	}
	name, _, _ = strings.Cut(name, `"`)
	return name
}

// jsonSchema has the parts of a JSON Schema that the page shows.
type jsonSchema struct {
	Description string                `json:"description"`
	Type        any                   `json:"type"` // a string or a list of strings
	Ref         string                `json:"$ref"`
	AnyOf       []jsonSchema          `json:"anyOf"`
	Items       *jsonSchema           `json:"items"`
	Enum        []string              `json:"enum"`
	Properties  map[string]jsonSchema `json:"properties"`
	Required    []string              `json:"required"`
	Default     any                   `json:"default"`
}

func readSchemas(document map[string]any) (map[string]jsonSchema, error) {
	text, err := json.Marshal(document)
	var read struct {
		Components struct {
			Schemas map[string]jsonSchema `json:"schemas"`
		} `json:"components"`
	}
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		return nil, fmt.Errorf("read the API's own description: %w", err)
	}
	return read.Components.Schemas, nil
}

func (j jsonSchema) fields() []views.APIField {
	var fields []views.APIField
	for _, name := range slices.Sorted(maps.Keys(j.Properties)) {
		p := j.Properties[name]
		f := views.APIField{Name: name, About: p.Description, Required: slices.Contains(j.Required, name)}
		f.Type, f.Ref = p.typeName()
		if p.Default != nil {
			text, _ := json.Marshal(p.Default) // cannot fail: the value was decoded from JSON
			f.Default = string(text)
		}
		fields = append(fields, f)
	}
	return fields
}

// alternativeNames returns the names of the alternatives (anyOf) of a schema.
func (j jsonSchema) alternativeNames() (names []string) {
	for _, one := range j.AnyOf {
		name, _ := one.typeName()
		names = append(names, name)
	}
	return names
}

// alternativesText returns the names of a schema's alternatives (anyOf) except null, separated by "or". ref is the
// schema's name if there is only one alternative and it is named.
func (j jsonSchema) alternativesText() (name, ref string) {
	var names []string
	for _, one := range j.AnyOf {
		if one.Type != "null" {
			name, ref = one.typeName()
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return name, ref
	}
	return strings.Join(names, " | "), ""
}

// typeName returns the name of a schema's type for readers. ref is the name of the referenced schema, or "".
func (j jsonSchema) typeName() (name, ref string) {
	switch {
	case j.Ref != "":
		ref = strings.TrimPrefix(j.Ref, schemaPrefix)
		return ref, ref
	case len(j.AnyOf) > 0:
		return j.alternativesText()
	case len(j.Enum) > 0:
		return strings.Join(j.Enum, " | "), ""
	case j.Items != nil:
		of, ref := j.Items.typeName()
		return "list of " + of, ref
	}
	switch t := j.Type.(type) {
	case string:
		return t, ""
	case []any:
		var names []string
		for _, one := range t {
			if one != "null" {
				names = append(names, fmt.Sprint(one))
			}
		}
		return strings.Join(names, " | "), ""
	}
	return "any", ""
}
