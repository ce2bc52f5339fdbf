package api

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/evaluator/kernelrun"
	"warpboard/web/site/evaluations"
)

// OpenAPI responds with the OpenAPI 3.1 document of the whole API.
func (a *API) OpenAPI(c *fiber.Ctx) error {
	document, err := a.apiDocument()
	if err != nil {
		return err
	}
	return c.JSON(document)
}

// apiDocument describes every operation of the API. It derives the schemas from the Go types that read requests and
// write answers.
func (a *API) apiDocument() (map[string]any, error) {
	schemas, err := a.apiSchemas()
	if err != nil {
		return nil, err
	}
	paths := map[string]any{}
	for _, o := range a.operations() {
		path, _ := paths[o.path].(map[string]any)
		if path == nil {
			path = map[string]any{}
			paths[o.path] = path
		}
		path[strings.ToLower(o.method)] = o.openAPIObject()
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "Warpboard", "version": a.site.Settings.Version,
			"license":     map[string]any{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
			"description": "Submit kernels to leaderboards, and evaluate single kernels. Create a token on your account page and send it as Authorization: Bearer TOKEN. Public data needs no token, also for scripts on other sites: tasks, boards, devices, submissions, statements.",
		},
		"servers":  []any{map[string]any{"url": a.site.Settings.BaseURL}},
		"paths":    paths,
		"webhooks": webhookMessages(),
		"components": map[string]any{
			"schemas": schemas,
			"securitySchemes": map[string]any{
				"token": map[string]any{"type": "http", "scheme": "bearer"},
				"key": map[string]any{"type": "apiKey", "in": "header", "name": client.EvaluationKeyHeader,
					"description": "If evaluations need no token, the first answer has a key in this header. Send it back to keep the same identity."},
			},
		},
	}, nil
}

// apiSchemas returns the schemas of all bodies by name.
func (a *API) apiSchemas() (map[string]any, error) {
	schemas, sent := kernelrun.JSONSchemas(), map[string]bool{}
	for _, o := range a.operations() {
		sent[o.bodyType] = true
	}
	for name, answer := range answerTypes() {
		schema, err := schemaOf(answer, sent[name])
		if err != nil {
			return nil, fmt.Errorf("describe the API's %s: %w", name, err)
		}
		schemas[name] = schema
		addAllowedValues(schema, allowedPropertyValues()[name])
	}
	setMessageSchemas(schemas)
	schemas["NewBatch"].(map[string]any)["properties"].(map[string]any)["requests"].(map[string]any)["items"] = schemaRef("EvaluationOrCompare")
	schemas["EvaluationOrCompare"] = map[string]any{"description": "One kernel, or two kernels to compare.",
		"anyOf": []any{schemaRef("EvaluationRequest"), schemaRef("CompareRequest")}}
	return schemas, nil
}

// openAPIObject returns the operation in OpenAPI's form.
func (o operation) openAPIObject() map[string]any {
	answer := map[string]any{"description": "the requested data"}
	if o.answerSchema != nil {
		answer["content"] = contentObject(o.contentType(), o.answerSchema)
	}
	if o.method == fiber.MethodPost && slices.Contains([]string{"/evaluate", "/compare", "/"}, o.path) {
		answer["headers"] = map[string]any{evaluations.DeviceHeader: map[string]any{"schema": map[string]any{"type": "string"},
			"description": "the device that it ran on, such as h200 or cpu, as gpu_type in the body. Absent behind a proxy if the answer begins before the evaluation has ended"}}
	}
	out := map[string]any{
		"operationId": o.operationID(), "summary": o.summary, "tags": []string{o.tag}, "responses": o.responses(answer), "parameters": o.parameters(),
	}
	if o.path == publishPath && o.method == fiber.MethodPost {
		out["requestBody"] = map[string]any{"required": true, "content": contentObject("application/zip", map[string]any{"type": "string", "format": "binary"})}
	}
	if o.bodyType != "" {
		body := contentObject(fiber.MIMEApplicationJSON, schemaRef(o.bodyType))
		if o.path == batchPath {
			maps.Copy(body, contentObject(client.JSONLines, schemaRef("EvaluationOrCompare")))
		}
		out["requestBody"] = map[string]any{"required": true, "content": body}
	}
	out["security"] = o.security()
	return out
}

// responses describes the successful response of an operation and its errors. Errors of the unversioned API have other
// schemas, except errors of requests that are refused before routing (too many requests, a malformed header).
func (o operation) responses(answer map[string]any) map[string]any {
	refused, failed := contentObject(problemContentType, schemaRef("Problem")),
		contentObject(problemContentType, schemaRef("Problem"))
	out := map[string]any{strconv.Itoa(o.successStatus): answer,
		"4XX":     map[string]any{"description": "the problem with the request", "content": refused},
		"default": map[string]any{"description": "what went wrong", "content": failed}}
	if strings.HasPrefix(o.tag, evaluationsTag) && !strings.HasPrefix(o.path, "/api/") {
		maps.Copy(refused, contentObject(fiber.MIMEApplicationJSON, schemaRef("EvaluationError")))
		maps.Copy(failed, contentObject(fiber.MIMEApplicationJSON, schemaRef("EvaluationError")))
		if o.bodyType != "" {
			out["422"] = map[string]any{"description": "the body is not a JSON object", "content": contentObject(fiber.MIMEApplicationJSON, schemaRef("BodyErrors"))}
		}
	}
	return out
}

// security lists the accepted ways to authenticate: a token, a key for evaluations, or nothing if the operation needs
// no token.
func (o operation) security() []any {
	token, key, nothing := map[string]any{"token": []string{}}, map[string]any{"key": []string{}}, map[string]any{}
	switch {
	case strings.HasPrefix(o.tag, evaluationsTag):
		return []any{token, key, nothing}
	case o.needsToken:
		return []any{token}
	}
	return []any{token, nothing}
}

// parameters returns the parameters of an operation: those in the path (in braces), in headers, and in the query.
func (o operation) parameters() []any {
	list := []any{}
	for part := range strings.SplitSeq(o.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, map[string]any{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true,
				"schema": o.pathType(strings.TrimSuffix(name, "}"))})
		}
	}
	if o.method == fiber.MethodPost && slices.Contains(idempotentPaths(), o.path) {
		list = append(list, map[string]any{"name": client.IdempotencyHeader, "in": "header", "schema": map[string]any{"type": "string"},
			"description": "a key of your choice: a repeated request with the same key has no further effect"})
	}
	for _, name := range slices.Sorted(maps.Keys(o.queryParameters)) {
		list = append(list, map[string]any{"name": name, "in": "query", "description": o.queryParameters[name], "schema": queryType(name),
			"required": strings.HasPrefix(o.path, "/compare.") && name != "case"})
	}
	return list
}

func contentObject(kind string, schema map[string]any) map[string]any {
	return map[string]any{kind: map[string]any{"schema": schema}}
}

func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": schemaPrefix + name}
}

func listSchema(key, name string) map[string]any {
	return map[string]any{"type": "object", "required": []string{key}, "properties": map[string]any{key: map[string]any{"type": "array", "items": schemaRef(name)}}}
}
