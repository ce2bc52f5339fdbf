// Package site is shared by all handlers: the store and the other parts of the program, the sender of a request,
// answers with errors and pages, and limits for one sender.
//
// Read site.go first (Site and its settings), then request.go and session.go (a request's fields; its sender),
// errors.go (one way from an error to an answer), page.go and render.go (the frame of a page; bounded rendering),
// csrf.go, limits.go, and body.go (shares of connections, requests, and bytes), stream.go and hub.go (live streams and
// their topics), files.go (uploads and downloads).
//
// A handlers' package has a *Site as a field and adds its own handlers. Middleware of this package never looks at
// paths: web's list of routes names the middleware of each route, and IdentifySender must come before every use of the
// Viewer.
//
// Trap: everything taken from a fiber.Ctx ends with the handler, and fiber's own context never ends. Use
// c.UserContext() in a handler, and Site.StreamContext in code that outlives it.
package site
