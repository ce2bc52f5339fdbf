// Package mcp offers a site to agents over the Model Context Protocol: the tools of the evaluation API and those of the
// boards.
//
// Read server.go (the server, over HTTP and stdio), boards.go and evaluations.go (tools that read and measure), loop.go
// (submitting and waiting), compare.go, record.go, resources.go, progress.go, arguments.go and schema.go (arguments and
// answers of tools), skill.go (the text that agents should read first).
//
// The tools use the site's JSON API. So they are the same inside the site and in a program on a person's machine, and
// have only the rights of the caller's token.
//
// Risk: texts of other people (task texts, kernels, names) reach a model. They are passed as data, and each tool acts
// only for its caller.
package mcp
