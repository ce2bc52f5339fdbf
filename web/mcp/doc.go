// Package mcp offers a site to agents over the Model Context Protocol: the tools of the evaluation API and those of the
// boards.
//
// Read server.go (the server, over HTTP and stdio), boards.go and evaluations.go (tools that look and measure), loop.go (the
// tools of submitting and waiting), compare.go, record.go, resources.go, progress.go, arguments.go and
// schema.go (what tools take and answer), skill.go (what an agent is told to read first).
//
// The tools ask the site through its JSON API, so that they are the same inside the site and in a program on someone's own
// machine, and have no rights that the caller's token lacks.
//
// What may go wrong: what people wrote (task texts, kernels, names) reaches a model. It is handed over as data, and no tool
// acts for anyone but its caller.
package mcp
