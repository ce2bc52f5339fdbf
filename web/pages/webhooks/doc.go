// Package webhooks is the pages of webhooks: a person's own, and for admins the site's. Package web routes to it; models/webhooks
// keeps them and holds the rules, and package webhooks sends.
//
// Read hooks.go: List and Create (both lists and their forms), Show (one with its log), then the actions on one.
//
// It promises to show a secret in the answer that made it and never again, and to forbid storing its pages. Another person's
// webhook is not found rather than forbidden, so that its number does not reveal that it exists.
//
// What may go wrong: a log shows messages verbatim. A person who has since lost the right to see a task can still read
// earlier messages there.
package webhooks
