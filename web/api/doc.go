// Package api is the versioned JSON API, /api/v1: what it answers is described by an OpenAPI document, and
// the types are those of package client.
//
// Read operations.go first (the API as a table; a test holds it to the routes), then api.go (tasks, boards,
// devices), submissions.go, mine.go (one's own; waiting), publish.go
// (tasks), evaluations.go, answers.go (from models to the client's types), json_body.go
// (bodies with unknown keys are refused), openapi.go and page.go (the table as a document and as a page).
//
// Errors are RFC 9457 problems with a stable code.
package api
