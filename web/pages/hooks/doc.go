// Package hooks is the pages of webhooks: a person's own, and for admins the site's. Package web routes to it; models/webhooks
// keeps them and holds the rules, and package webhooks sends.
//
// Read hooks.go: List and Create (both lists and their forms), Show (one with its log), then what is done to one.
//
// It promises to show a secret in the answer that made it and never again, and to forbid storing its pages. Someone else's
// webhook is not found rather than forbidden: its number tells no one that it exists.
//
// What may go wrong: a log shows messages word for word as they were sent. Who has since lost the right to see a task still
// reads there what was sent before.
package hooks
