// Package web is the HTTP server of the site: one fiber server over a store, a dispatcher, and a hub. Only this part of
// the program uses fiber, and only app builds it.
//
// Read in this order: config.go (the operator's settings), server.go (New builds the packages, Run serves until its
// context ends), routes.go with the other routes_*.go and routes_api.go (every address, with its middleware),
// middleware.go and strict.go (middleware for all requests), probes.go (/healthz and /readyz), mcp.go (how agents reach
// the site's own API).
//
// The handlers are in packages that do not import each other:
//
//	pages and the packages below it   HTML
//	api        /api/v1, its OpenAPI document and the page about both
//	evalapi    the unversioned evaluation API, in the format of the CUDA Evaluation Server
//	popcorn    the requests of popcorn-cli, in KernelBot's format
//	metrics    Prometheus and /stats
//	mcp        tools for agents
//	signin     OAuth, OpenID Connect, developer sign-in
//
// They use site (the sender of a request, answers with errors and pages, limits, the path of a site), site/runs and
// site/evaluations (shared by several packages), and conns (connections, server-sent events).
// internal/app/imports_test.go checks these imports.
//
// Tests of a handler are in its package, and send HTTP requests to a whole site of package webtest. This package tests
// the properties of all routes: limits, headers, paths, visibility, queries, costs.
//
// Handlers are thin: read, query, shape, answer. Rules are in models and tasks, HTML in views. An error that a handler
// returns becomes an answer in one place, site.HandleError, in the shape of its route.
package web
