// Package api is the versioned JSON API, /api/v1: an OpenAPI document describes it, with the types of package client.
// Package web routes to it; the command line, package mcp, and other programs call it.
//
// Read operations.go first (the API as a table; a test compares it with the routes), then api.go (tasks, boards,
// devices), submissions.go, mine.go (one's own; waiting), publish.go (tasks), evaluations.go, capacity.go, login.go
// (the ends of the device flow), webhooks.go, statements.go (signed results and their chain), answers.go (from models
// to the client's types). All share json_body.go (refuses unknown keys in bodies), query.go (refuses unknown
// parameters; lists the answers without a token), openapi.go and page.go (the table as a document and as a page).
//
// To add an operation:
//
//   - a method of API in the file of its noun (capacity.go is a short one)
//   - a row in operations.go, which makes its route, too: Routes (query.go) takes from it who may call, and whether it
//     waits, streams, or has a large body. Query parameters that are numbers, parts of the path that are numbers, and
//     content types other than JSON are listed in openapi_types.go
//   - for a new type: a struct with jsonschema tags in clients/go, and its name in answerTypes (openapi_schema.go)
//   - a call in the list of openapi_answers_test.go, which compares an answer with its schema
//
// The page /api, the OpenAPI document, and the known query parameters follow from the row.
//
// Paths and fields are stable: changes only add fields, which older clients must ignore. Errors are RFC 9457 problems
// with a stable code, whose text may change. Times of kernels are in nanoseconds, of clocks RFC 3339 in UTC. A task,
// submission, or evaluation that the caller may not see is answered like a missing one.
//
// Traps: a waiting request (?wait=) lasts up to 50 s, and an address has a limited share of those; beyond it the answer
// comes at once. Statements are signed again for each reader: they are equal, byte for byte, only because Ed25519 is
// deterministic.
package api
