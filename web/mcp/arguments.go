package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/tasks"
)

// explainArgumentErrors is middleware that replaces the SDK's error about wrong arguments, which is a schema path, by a
// sentence. It checks only arguments that the SDK has refused.
func (s *Schemas) explainArgumentErrors(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		call, isCall := r.(*sdk.CallToolRequest)
		answer, isAnswer := result.(*sdk.CallToolResult)
		if err != nil || !isCall || !isAnswer || !answer.IsError || !wereArgumentsRefused(answer) {
			return result, err
		}
		if schema, ok := s.argumentSchemas.Load(call.Params.Name); ok {
			if why := describeWrongArguments(call.Params.Name, schema.(*jsonschema.Schema),
				call.Params.Arguments); why != "" {
				answer.Content = []sdk.Content{&sdk.TextContent{Text: why}}
			}
		}
		return answer, nil
	}
}

// wereArgumentsRefused reports whether the SDK refused the arguments of a call.
func wereArgumentsRefused(answer *sdk.CallToolResult) bool {
	if len(answer.Content) != 1 {
		return false
	}
	text, ok := answer.Content[0].(*sdk.TextContent)
	return ok && (strings.HasPrefix(text.Text, `validating "arguments"`) || strings.HasPrefix(text.Text, "json: "))
}

// describeWrongArguments describes the first error in a tool's arguments, or returns "". It parses them as a stream and
// stops at the error, because arguments may be megabytes long.
func describeWrongArguments(tool string, schema *jsonschema.Schema, arguments json.RawMessage) string {
	given := map[string]bool{}
	if len(arguments) > 0 && jsonTypeName(arguments) != "null" {
		if jsonTypeName(arguments) != "object" {
			return fmt.Sprintf("%s: the arguments must be an object, not %s.", tool, clipInput(arguments))
		}
		if why := forEachKey(arguments, func(key string, value json.RawMessage) string {
			of := schema.Properties[key]
			if of == nil {
				return fmt.Sprintf("%s has no argument %q; %s", tool, clipInput([]byte(key)),
					suggestArgument(key, schema))
			}
			given[key] = true
			if why := describeWrongValue(key, of, value); why != "" {
				return tool + ": " + why
			}
			return ""
		}); why != "" {
			return why
		}
	}
	for _, key := range schema.Required {
		if !given[key] {
			return fmt.Sprintf("%s needs the argument %q: %s.", tool, key, schema.Properties[key].Description)
		}
	}
	return ""
}

// suggestArgument names the most similar known argument, or lists all known arguments.
func suggestArgument(key string, schema *jsonschema.Schema) string {
	known := slices.Sorted(maps.Keys(schema.Properties))
	if len(known) == 0 {
		return "it takes none."
	}
	if near := tasks.NearestName(key, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "it takes " + strings.Join(known, ", ") + "."
}

// describeWrongValue describes why a value does not match its schema, or returns "". at is the path of the value.
func describeWrongValue(at string, schema *jsonschema.Schema, value json.RawMessage) string {
	kind, want := jsonTypeName(value), schema.Types
	if schema.Type != "" {
		want = []string{schema.Type}
	}
	if len(want) > 0 && !slices.Contains(want, kind) && !(kind == "integer" && slices.Contains(want, "number")) {
		return fmt.Sprintf("the argument %q must be %s, not %s.", clipInput([]byte(at)), wantedTypesText(want),
			clipInput(value))
	}
	switch {
	case kind == "array" && schema.Items != nil:
		return forEachElement(value, func(i int, element json.RawMessage) string {
			return describeWrongValue(fmt.Sprintf("%s[%d]", at, i), schema.Items, element)
		})
	case kind == "object" && schema.AdditionalProperties != nil:
		return forEachKey(value, func(key string, element json.RawMessage) string {
			return describeWrongValue(at+"."+key, schema.AdditionalProperties, element)
		})
	}
	return ""
}

func wantedTypesText(want []string) string {
	var names []string
	for _, kind := range want {
		switch kind {
		case "null":
		case "integer", "array", "object":
			names = append(names, "an "+kind)
		default:
			names = append(names, "a "+kind)
		}
	}
	return strings.Join(names, " or ")
}

// jsonTypeName returns JSON Schema's name for the type of a valid JSON value.
func jsonTypeName(value json.RawMessage) string {
	switch value = bytes.TrimSpace(value); {
	case len(value) == 0:
		return ""
	case value[0] == '"':
		return "string"
	case value[0] == '{':
		return "object"
	case value[0] == '[':
		return "array"
	case value[0] == 't', value[0] == 'f':
		return "boolean"
	case value[0] == 'n':
		return "null"
	}
	if number, err := strconv.ParseFloat(string(value), 64); err == nil && number == float64(int64(number)) {
		return "integer"
	}
	return "number"
}

// maxCheckedElements limits the elements of an array, or keys of an object, that are checked.
const maxCheckedElements = 200

// maxRepeatedInput limits the input that an error message repeats, in bytes.
const maxRepeatedInput = 40

func clipInput(text []byte) string {
	if len(text) > maxRepeatedInput {
		return strings.ToValidUTF8(string(text[:maxRepeatedInput]), "") + "…"
	}
	return string(text)
}

// forEachElement calls do for the elements of an array until do returns a message. It ignores invalid JSON, which the
// SDK reports.
func forEachElement(array json.RawMessage, do func(int, json.RawMessage) string) string {
	from := json.NewDecoder(bytes.NewReader(array))
	if _, err := from.Token(); err != nil {
		return ""
	}
	for i := 0; i < maxCheckedElements && from.More(); i++ {
		var element json.RawMessage
		if err := from.Decode(&element); err != nil {
			return ""
		}
		if why := do(i, element); why != "" {
			return why
		}
	}
	return ""
}

// forEachKey calls do for the keys and values of an object until do returns a message. It ignores invalid JSON, which
// the SDK reports.
func forEachKey(object json.RawMessage, do func(string, json.RawMessage) string) string {
	from := json.NewDecoder(bytes.NewReader(object))
	if _, err := from.Token(); err != nil {
		return ""
	}
	for i := 0; i < maxCheckedElements && from.More(); i++ {
		key, err := from.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || from.Decode(&value) != nil {
			return ""
		}
		if why := do(name, value); why != "" {
			return why
		}
	}
	return ""
}
