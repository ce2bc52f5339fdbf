// Package web is the site's HTTP face: one fiber server over a store, a dispatcher and a hub. It is the only
// part of the program that knows fiber, and no one but app builds it.
//
// Read in this order: config.go (what the operator chooses), server.go (New builds the rooms, Run serves until
// its context ends), routes.go (every address, with what a request passes through before its handler),
// middleware.go and strict.go (what all requests pass through), probes.go (/healthz and /readyz), mcp.go (how
// agents reach the site's own API).
//
// The handlers live in rooms, which do not know each other:
//
//	pages, pages/authoring, …/moderation, …/playground, …/profiles   HTML
//	api        /api/v1, its OpenAPI document and the page about both
//	evalapi    the unversioned evaluation API, in foreign shapes
//	popcorn    what popcorn-cli asks, in KernelBot's shapes
//	metrics    Prometheus and /stats
//	mcp        tools for agents; client is the Go client of the API
//	signin     OAuth, OpenID Connect, developer sign-in
//
// They stand on site (who sends a request, how errors and pages are answered, limits), site/runs and
// site/evaluations (what several rooms need of either), stream (server-sent events), wire (connections)
// and mount (the path of a site below one).
// app/imports_test.go holds these arrows.
//
// Handlers are thin: read, ask, shape, answer. Rules live in models and tasks, HTML in views. An error that a
// handler returns becomes an answer in one place, site.HandleError, in the shape of its route.
package web
