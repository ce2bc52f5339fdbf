package api

import (
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/work"
)

// idempotentPaths lists the paths whose POST accepts an Idempotency-Key header.
func idempotentPaths() []string {
	return []string{"/api/v1/submissions", "/api/v1/evaluations", batchPath}
}

// batchPath is the path that accepts a batch, as JSON or as JSON lines.
const batchPath = "/api/v1/evaluations/batch"

// publishPath is the only path that accepts a file.
const publishPath = "/api/v1/tasks/{slug}"

// bundlePath is the path that responds with a task's zip file.
const bundlePath = "/api/v1/tasks/{slug}/bundle"

// allowedPropertyValues returns the allowed values of properties, by schema and property.
func allowedPropertyValues() map[string]map[string][]string {
	modes := []string{string(job.ModeTest), string(job.ModeBenchmark), string(job.ModeRanked), string(job.ModeProfile), string(job.ModeSanitize)}
	states := []string{string(work.StateQueued), string(work.StateBuilding), string(work.StateTesting), string(work.StateBenchmarking),
		string(work.StateRanking), string(work.StateProfiling), string(work.StateSanitizing), string(work.StateRunningValidationScript), string(work.StateDone), string(work.StateFailed), string(work.StateCancelled)}
	return map[string]map[string][]string{
		"NewSubmission": {"mode": modes},
		"Published":     {"change": {client.ChangeCreated, string(catalog.ChangeNone), string(catalog.ChangeTexts), string(catalog.ChangeVersion)}},
		"Evaluation":    {"kind": {"evaluate", "compare", "compile"}},
		"Run":           {"state": states},
		"Event":         {"state": states},
	}
}

// addAllowedValues adds the allowed values to the properties of a schema.
func addAllowedValues(schema map[string]any, values map[string][]string) {
	properties, _ := schema["properties"].(map[string]any)
	for name, words := range values {
		if property, ok := properties[name].(map[string]any); ok {
			property["enum"] = words
		}
	}
}

// schemaPrefix is the prefix of references to schemas.
const schemaPrefix = "#/components/schemas/"

const problemContentType = "application/problem+json"

// integerSchema describes an integer in a path or a query.
func integerSchema() map[string]any { return map[string]any{"type": "integer", "format": "int64"} }

// queryType returns the JSON Schema of a query parameter, by name. The default is a string.
func queryType(name string) map[string]any {
	switch name {
	case "a", "after", "b", "before", "case", "limit", "page", "up_to", "version", "wait":
		return integerSchema()
	case "dry_run", "site":
		return map[string]any{"type": "boolean"}
	}
	return map[string]any{"type": "string"}
}

// pathType returns the JSON Schema of a variable part of a path: an integer for IDs such as those of runs and
// submissions, a string for names and for the random IDs of evaluations.
func (o operation) pathType(name string) map[string]any {
	switch name {
	case "id", "run", "delivery":
		if !strings.HasPrefix(o.tag, evaluationsTag) {
			return integerSchema()
		}
	}
	return map[string]any{"type": "string"}
}

// eventStreamType is the content type of server-sent events.
const eventStreamType = "text/event-stream"

// contentType returns the content type of the operation's response.
func (o operation) contentType() string {
	if strings.HasSuffix(o.path, "}/events") {
		return eventStreamType
	}
	if strings.HasSuffix(o.path, "/results") {
		return client.JSONLines
	}
	switch path.Ext(o.path) {
	case ".csv":
		return "text/csv"
	case ".txt", ".ptx":
		return fiber.MIMETextPlain
	case ".md":
		return "text/markdown"
	case ".jsonl":
		return "application/jsonl"
	case ".parquet", ".ncu-rep":
		return fiber.MIMEOctetStream
	}
	switch o.path {
	case bundlePath:
		return fiber.MIMEOctetStream
	}
	return fiber.MIMEApplicationJSON
}

// webhookOperationID returns the operationId that a webhook event has in OpenAPI, such as "webhookRunEnded".
func webhookOperationID(kind string) string {
	name := "webhook"
	for word := range strings.SplitSeq(kind, ".") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// operationID returns the operationId, such as "getSubmissionsById", from which code generators name the client's
// functions.
func (o operation) operationID() string {
	name := strings.ToLower(o.method)
	for part := range strings.SplitSeq(strings.TrimPrefix(o.path, "/api/v1"), "/") {
		inner, isParameter := strings.CutPrefix(part, "{")
		if isParameter {
			name += "By"
		}
		for word := range strings.FieldsFuncSeq(inner, func(r rune) bool { return r == '-' || r == '.' || r == '}' }) {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name
}
