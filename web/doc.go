// Package web is the site's HTTP face: routes, sign-in and sessions, pages, the JSON API and the
// live streams. Handlers are thin (read, ask, shape, answer); rules live in models and tasks,
// HTML in views. It is the only package that knows fiber.
package web
