// Package views renders Warpboard's pages. Each page has one struct, its view model, at the top of its .templ file;
// handlers in web fill it, and components only show it: they access no store and no clock. Data shown as it is stored
// has its type from package models in the view model: a run, an entry of a board, a token.
//
// In reading order:
//
//	page.go, layout.templ     parts of every page: title, viewer, CSRF token, header and footer
//	parts.templ               small components: times, quantities, people, pagers
//	links.go                  addresses of pages, escaped once, from the site's root: site.BasePath adds the path of a site below one
//	home, task, submit, submission, run, board, history (.templ)    a visitor's path; run.go shapes a run's card
//	task_edit, task_preview, task_settings, task_docs (.templ)      creating tasks
//	playground, evaluation, profile_pages, profile_run (.templ)     single kernels, and profiles
//	devices, workers, credentials, clocks, trust, user, me (.templ) operation, accounts
//	text.go, markdown.go, highlight.go, remarks.go                  names for people; untrusted texts; sources
//
// Below it: format (numbers, times, sentences), diff (two texts), charts (SVG of profiles), outcome, and syntax.
//
// Pages work without JavaScript; nothing inline breaks the content security policy; templ escapes untrusted texts, and
// Markdown is sanitized. static/ and tests read IDs and data-… attributes.
//
// *_templ.go files are generated (`make generate`) and committed; views/generated_test.go fails if they are stale.
// internal/app/words_test.go checks texts for retired phrases.
package views
