// Package site is what every handler may use: the store and the other parts of the program, who sends a request,
// how errors and pages are answered, and how much of the process one sender may hold.
//
// Read site.go first (Site and its settings), then request.go and session.go (what a request carries; who sends
// it), errors.go (one way from an error to an answer), page.go and render.go (the frame of a page; bounded
// rendering), csrf.go, limits.go and body.go (shares of connections, requests and bytes), stream.go and hub.go
// (live streams and their topics), files.go (uploads and downloads).
//
// A room holds a *Site as a field and adds its own handlers. Middleware of this package never looks at paths: web's list of
// routes says which of it a route passes through, and Identify must come before what asks for the Viewer.
//
// What may go wrong: everything taken from a fiber.Ctx ends with the handler, and fiber's own context never
// ends; use c.UserContext() in a handler and Site.Streams in what outlives it.
package site
