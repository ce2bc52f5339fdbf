package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/jsonschema-go/jsonschema"

	"warpboard/evaluator/kernelrun"
	"warpboard/statement"
	"warpboard/web/client"
	"warpboard/web/site/evaluations"
)

// OpenAPI answers with the OpenAPI 3.1 document of the whole API.
func (a *API) OpenAPI(c *fiber.Ctx) error {
	document, err := a.apiDocument()
	if err != nil {
		return err
	}
	return c.JSON(document)
}

// apiDocument describes every operation of the API. The schemas come from what reads the requests and
// from the types of the answers.
func (a *API) apiDocument() (map[string]any, error) {
	schemas := kernelrun.Schemas()
	for name, answer := range answerTypes() {
		schema, err := schemaOf(answer)
		if err != nil {
			return nil, fmt.Errorf("describe the API's %s: %w", name, err)
		}
		schemas[name] = schema
		enumerate(schema, words()[name])
	}
	schemas["EvaluationOrCompare"] = map[string]any{"description": "One kernel, or two to be compared.",
		"anyOf": []any{ref("EvaluationRequest"), ref("CompareRequest")}}
	paths := map[string]any{}
	for _, o := range operations() {
		path, _ := paths[o.path].(map[string]any)
		if path == nil {
			path = map[string]any{}
			paths[o.path] = path
		}
		path[strings.ToLower(o.method)] = o.describe()
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "Warpboard", "version": a.Version,
			"license":     map[string]any{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
			"description": "Submit kernels to leaderboards, and evaluate single kernels. Make a token on your page and send it as Authorization: Bearer TOKEN. Scripts of other sites may read what everybody may, without a token: tasks, boards, devices, submissions, statements.",
		},
		"servers": []any{map[string]any{"url": a.BaseURL}},
		"paths":   paths,
		"components": map[string]any{
			"schemas": schemas,
			"securitySchemes": map[string]any{
				"token": map[string]any{"type": "http", "scheme": "bearer"},
				"key": map[string]any{"type": "apiKey", "in": "header", "name": client.EvaluationKeyHeader,
					"description": "Where evaluations need no token: the answer to the first brings a key in this header, and whoever sends it is the same caller again."},
			},
		},
	}, nil
}

// answerTypes are the answers by the names of their schemas.
func answerTypes() map[string]any {
	return map[string]any{
		"EvaluationAnswer": evaluations.Answer{}, "Evaluation": client.Evaluation{}, "EvaluationChange": client.EvaluationChange{}, "Problem": client.Problem{},
		"TaskSummary": client.TaskSummary{}, "Task": client.Task{}, "Event": client.Event{}, "Board": client.Board{}, "Capacity": client.Capacity{}, "Device": client.Device{},
		"Login": client.Login{}, "LoginAnswer": client.LoginAnswer{}, "LoginQuestion": client.LoginQuestion{}, "NewLogin": client.NewLogin{},
		"Published": client.Published{}, "SourceFile": client.SourceFile{}, "SubmissionList": client.SubmissionList{},
		"User": client.User{}, "NewSubmission": client.NewSubmission{}, "Submission": client.Submission{},
		"KernelExecResult": evaluations.ExecResult{}, "Metadata": evaluations.Metadata{}, "RuntimeStats": kernelrun.Stats{}, "Run": client.Run{}, "Entry": client.Entry{},
		"Envelope": statement.Envelope{}, "NewWebhook": client.NewWebhook{}, "Webhook": client.Webhook{}, "Delivery": client.Delivery{},
	}
}

// parts are the types that answers hold under a name of their own.
func parts() map[reflect.Type]*jsonschema.Schema {
	anything := &jsonschema.Schema{Description: "any JSON value"} // an empty schema would be written as true
	part := func(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/components/schemas/" + name} }
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage]():        anything,
		reflect.TypeFor[any]():                    anything,
		reflect.TypeFor[time.Duration]():          {Type: "integer"},
		reflect.TypeFor[evaluations.ExecResult](): part("KernelExecResult"),
		reflect.TypeFor[evaluations.Metadata]():   part("Metadata"),
		reflect.TypeFor[kernelrun.Stats]():        part("RuntimeStats"),
		reflect.TypeFor[client.Run]():             part("Run"),
		reflect.TypeFor[client.Entry]():           part("Entry"),
		reflect.TypeFor[client.Submission]():      part("Submission"),
	}
}

// schemaOf is the JSON Schema of a type, as a plain object.
func schemaOf(value any) (out map[string]any, err error) {
	own := reflect.TypeOf(value)
	others := parts()
	delete(others, own)
	schema, err := jsonschema.ForType(own, &jsonschema.ForOptions{TypeSchemas: others})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	properties, _ := out["properties"].(map[string]any)
	for _, property := range properties {
		withoutNull(property)
	}
	return out, err
}

// withoutNull takes back that a pointer to a part is null and nothing else: a part has no type of its own
// that null could be added to.
func withoutNull(schema any) {
	s, _ := schema.(map[string]any)
	if types, _ := s["type"].([]any); len(types) == 1 && types[0] == "null" {
		delete(s, "type")
	}
}

// describe is the operation as OpenAPI has it.
func (o operation) describe() map[string]any {
	answer := map[string]any{"description": "what was asked for"}
	if o.gives != nil {
		answer["content"] = content(o.contentType(), o.gives)
	}
	if o.method == fiber.MethodPost && slices.Contains([]string{"/evaluate", "/compare", "/"}, o.path) {
		answer["headers"] = map[string]any{evaluations.DeviceHeader: map[string]any{"schema": map[string]any{"type": "string"},
			"description": "the device that it ran on, such as h200 or cpu, as gpu_type in the body. Absent behind a proxy where the answer begins before the evaluation has ended"}}
	}
	out := map[string]any{
		"operationId": o.id(), "summary": o.summary, "tags": []string{o.tag},
		"responses": map[string]any{
			strconv.Itoa(o.status): answer,
			"4XX":                  map[string]any{"description": "what is wrong with the request", "content": content(o.problem())},
			"default":              map[string]any{"description": "what went wrong", "content": content(o.problem())},
		},
		"parameters": o.parameters(),
	}
	if o.path == publishPath && o.method == fiber.MethodPost {
		out["requestBody"] = map[string]any{"required": true, "content": content("application/zip", map[string]any{"type": "string", "format": "binary"})}
	}
	if o.takes != "" {
		out["requestBody"] = map[string]any{"required": true, "content": content(fiber.MIMEApplicationJSON, ref(o.takes))}
	}
	out["security"] = o.security()
	return out
}

// security lists what a caller may show: a token; where none is needed, nothing, too.
func (o operation) security() []any {
	token, key, nothing := map[string]any{"token": []string{}}, map[string]any{"key": []string{}}, map[string]any{}
	switch {
	case strings.HasPrefix(o.tag, evaluationsTag):
		return []any{token, key, nothing}
	case o.token:
		return []any{token}
	}
	return []any{token, nothing}
}

func (o operation) contentType() string {
	if strings.HasSuffix(o.path, "/events") {
		return "text/event-stream"
	}
	switch o.path {
	case "/api/v1/chain":
		return chainType
	case bundlePath:
		return fiber.MIMEOctetStream
	}
	return fiber.MIMEApplicationJSON
}

// problem is the answer to what went wrong: the unversioned API has its own.
func (o operation) problem() (kind string, schema map[string]any) {
	if strings.HasPrefix(o.path, "/api/") {
		return "application/problem+json", ref("Problem")
	}
	return fiber.MIMEApplicationJSON, map[string]any{"type": "object", "properties": map[string]any{
		"error": map[string]any{"type": "string"}, "status": map[string]any{"type": "string"}}}
}

// parameters are those of the path, in its braces, of headers, and of the query.
func (o operation) parameters() []any {
	list := []any{}
	for part := range strings.SplitSeq(o.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, map[string]any{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true,
				"schema": map[string]any{"type": "string"}})
		}
	}
	if o.path == "/api/v1/submissions" && o.method == fiber.MethodPost {
		list = append(list, map[string]any{"name": client.IdempotencyHeader, "in": "header", "schema": map[string]any{"type": "string"},
			"description": "a key of your choice: a submission that is sent again with it is the same one"})
	}
	for _, name := range slices.Sorted(maps.Keys(o.query)) {
		list = append(list, map[string]any{"name": name, "in": "query", "description": o.query[name], "schema": map[string]any{"type": queryType(name)}})
	}
	return list
}

func content(kind string, schema map[string]any) map[string]any {
	return map[string]any{kind: map[string]any{"schema": schema}}
}

func ref(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

func listOf(key, name string) map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{key: map[string]any{"type": "array", "items": ref(name)}}}
}
