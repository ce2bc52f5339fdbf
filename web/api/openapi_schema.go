package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/tasks"
	"warpboard/web/site/evaluations"
)

// answerTypes returns the types of the answers and of their named parts, by the names of their schemas.
func answerTypes() map[string]any {
	return map[string]any{
		"EvaluationAnswer": evaluations.EvaluationAnswer{}, "Evaluation": client.Evaluation{}, "EvaluationChange": client.EvaluationChange{}, "NewBatch": client.NewBatch{}, "Batch": client.Batch{}, "BatchEntry": client.BatchEntry{}, "BatchResult": client.BatchResult{}, "Problem": client.Problem{},
		"TaskSummary": client.TaskSummary{}, "Task": client.Task{}, "Draw": client.Draw{}, "Event": client.Event{}, "Board": client.Board{}, "Leaderboard": client.Leaderboard{}, "Ranked": client.Ranked{}, "Capacity": client.Capacity{}, "EventSummary": client.EventSummary{}, "EventStandings": client.EventStandings{}, "Suite": client.Suite{}, "SuiteBoard": client.SuiteBoard{}, "SuiteRow": client.SuiteRow{}, "SuiteResult": client.SuiteResult{}, "FastP": client.FastP{}, "EventBoard": client.EventBoard{}, "EventRow": client.EventRow{}, "EventResult": client.EventResult{}, "Device": client.Device{},
		"Login": client.Login{}, "LoginAnswer": client.LoginAnswer{}, "LoginQuestion": client.LoginPollRequest{}, "NewLogin": client.NewLogin{}, "ValidationQueued": client.ValidationQueued{}, "InviteCode": client.InviteCode{}, "Joined": client.Joined{},
		"Published": client.Published{}, "Difference": client.Difference{}, "SourceFile": client.SourceFile{}, "SubmissionList": client.SubmissionList{},
		"User": client.User{}, "Budget": client.Budget{}, "TaskLimit": client.TaskLimit{}, "TeamBudget": client.TeamBudget{}, "NewSubmission": client.NewSubmission{}, "Submission": client.Submission{},
		"KernelExecResult": evaluations.ExecResult{}, "Metadata": evaluations.RunMetadata{}, "RuntimeStats": kernelrun.Stats{}, "Run": client.Run{}, "Outcome": client.Outcome{}, "Entry": client.Entry{},
		"Comment": client.Comment{}, "CommentList": client.CommentList{}, "NewComment": client.NewComment{}, "NewReport": client.NewReport{}, "Notice": client.Notice{}, "InboxPage": client.InboxPage{},
		"Envelope": dsse.Envelope{}, "Token": client.Token{}, "NewWebhook": client.NewWebhook{}, "Webhook": client.Webhook{}, "Delivery": client.Delivery{},
		"WebhookMessage": client.WebhookMessage{}, "EndedRun": client.EndedRun{},
		"Failure": job.Failure{}, "StageResult": job.StageResult{}, "Finding": job.Finding{}, "RanKernel": job.Kernel{}, "CaseResult": job.CaseResult{}, "CaseNumerics": job.NumericError{}, "CaseClocks": job.ClockTimes{},
		"Machine": job.Machine{}, "EventDetail": job.Event{}, "Argument": tasks.Arg{}, "FieldError": client.FieldError{},
		"Comparison": client.Comparison{}, "ComparedRun": client.ComparedRun{}, "ComparedCase": client.ComparedCase{}, "Ratio": client.Ratio{}, "Profile": client.Profile{},
		"EvaluationError": client.EvaluationError{}, "BodyErrors": client.BodyErrors{}, "Job": client.Job{},
	}
}

// namedSchemas returns the schemas of types that answers reference by name.
func namedSchemas() map[reflect.Type]*jsonschema.Schema {
	anything := &jsonschema.Schema{Description: "any JSON value"} // an empty schema would be written as true
	out := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): anything,
		reflect.TypeFor[any]():             anything,
		reflect.TypeFor[time.Duration]():   {Type: "integer"},
	}
	for name, answer := range answerTypes() {
		out[reflect.TypeOf(answer)] = &jsonschema.Schema{Ref: schemaPrefix + name}
	}
	// client.Task embeds the summary: its schema must contain the keys instead of a reference
	delete(out, reflect.TypeFor[client.TaskSummary]())
	delete(out, reflect.TypeFor[client.EventSummary]())
	return out
}

// schemaOf returns the JSON Schema of a type as a map. If clients send the type (sent), the schema forbids unknown
// keys. Answers may get more keys in later versions, which older clients ignore.
func schemaOf(value any, sent bool) (out map[string]any, err error) {
	own := reflect.TypeOf(value)
	others := namedSchemas()
	delete(others, own)
	schema, err := jsonschema.ForType(own, &jsonschema.ForOptions{TypeSchemas: others})
	if err != nil {
		return nil, err
	}
	simplifySchema(schema, sent)
	text, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// simplifySchema adapts a schema for generators of clients: numbers have a format (without it Go's are float32 and
// int), lists are never null, and optional fields are not also nullable.
func simplifySchema(schema *jsonschema.Schema, sent bool) {
	if schema == nil {
		return
	}
	switch {
	case schema.Type == "integer" || slices.Contains(schema.Types, "integer"):
		schema.Format = "int64"
	case schema.Type == "number" || slices.Contains(schema.Types, "number"):
		schema.Format = "double"
	case slices.Contains(schema.Types, "array"):
		removeNullType(schema)
	}
	for name, property := range schema.Properties {
		if !slices.Contains(schema.Required, name) {
			removeNullType(property)
		}
		simplifySchema(property, sent)
	}
	simplifySchema(schema.Items, sent)
	if len(schema.Properties) == 0 {
		simplifySchema(schema.AdditionalProperties, sent)
	} else if !sent {
		schema.AdditionalProperties = nil
	}
}

// removeNullType removes null from the types of a schema. A schema that references another one by pointer has no other
// type; it then gets none.
func removeNullType(schema *jsonschema.Schema) {
	types := slices.DeleteFunc(slices.Clone(schema.Types), func(one string) bool { return one == "null" })
	schema.Types = nil
	switch len(types) {
	case 0:
	case 1:
		schema.Type = types[0]
	default:
		schema.Types = types
	}
}

// webhookMessages returns the requests that the site sends to webhooks, by the kind of event.
func webhookMessages() map[string]any {
	out := map[string]any{}
	for kind, about := range map[string]string{
		"run.ended": "A run that a person asked for has ended; data is an EndedRun.", "record.taken": "A board has a new leader; data is an EndedRun, with previous.",
		"worker.lost": "A worker went silent without signing off; site webhooks only.", "wait.long": "Work has waited for a device for longer than the webhook's limit; site webhooks only.",
		"test": "You requested a test."} {
		out[kind] = map[string]any{"post": map[string]any{
			"summary": about, "tags": []string{webhooksTag}, "operationId": webhookOperationID(kind), "security": []any{map[string]any{}},
			"parameters": []any{signatureHeader("webhook-id"), signatureHeader("webhook-timestamp"),
				signatureHeader("webhook-signature")},
			"requestBody": map[string]any{"required": true, "content": contentObject("application/json", schemaRef("WebhookMessage"))},
			"responses": map[string]any{"2XX": map[string]any{"description": "the delivery is over; any other answer is tried again"},
				"410": map[string]any{"description": "the webhook is switched off"}},
		}}
	}
	return out
}

// setMessageSchemas sets the schemas of the parts of webhook messages that Go stores as raw JSON.
func setMessageSchemas(schemas map[string]any) {
	properties := func(name string) map[string]any { return schemas[name].(map[string]any)["properties"].(map[string]any) }
	properties("Delivery")["body"] = schemaRef("WebhookMessage")
	properties("WebhookMessage")["data"] = map[string]any{"anyOf": []any{schemaRef("EndedRun"), map[string]any{"type": "object"}},
		"description": "for run.ended and record.taken, an EndedRun"}
}

// signatureHeader describes a header as standardwebhooks.com defines it.
func signatureHeader(name string) map[string]any {
	return map[string]any{"name": name, "in": "header", "required": true, "schema": map[string]any{"type": "string"}, "description": "as standardwebhooks.com describes"}
}
