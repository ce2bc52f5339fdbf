package mcp

import (
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// cachedSchema returns the schema of a tool. It always returns the same pointer for the same tool, because the SDK uses
// the pointer as cache key. It panics if the type has no schema.
func cachedSchema(in *sync.Map, tool string, make func() (*jsonschema.Schema, error)) *jsonschema.Schema {
	if found, ok := in.Load(tool); ok {
		return found.(*jsonschema.Schema)
	}
	schema, err := make()
	if err != nil {
		panic(fmt.Sprintf("the tool %s has no schema: %v", tool, err))
	}
	found, _ := in.LoadOrStore(tool, schema)
	return found.(*jsonschema.Schema)
}

// shortSchema returns the schema of a result without the schemas of its fields. Complete schemas took three quarters of
// the list of tools.
func shortSchema[Out any]() (*jsonschema.Schema, error) {
	whole, err := jsonschema.For[Out](nil)
	if err != nil {
		return nil, err
	}
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, Required: whole.Required}
	for key, of := range whole.Properties {
		out.Properties[key] = &jsonschema.Schema{Type: of.Type, Types: of.Types, Description: of.Description}
	}
	return out, nil
}

// untypedSchema returns the schema of a result that has the given keys, by name and type, and may have others.
func untypedSchema(keys map[string]string) *jsonschema.Schema {
	schema := &jsonschema.Schema{
		Type:                 "object",
		Properties:           map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{},
	}
	for key, kind := range keys {
		schema.Properties[key] = &jsonschema.Schema{Type: kind}
	}
	return schema
}
