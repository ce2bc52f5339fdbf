// Package views renders Warpboard's pages. Each page has one struct, its view model, at the top of its .templ file;
// handlers in web fill it, and components only show it: they use no store and no clock. What a page shows as it is stored, a
// view model holds as the type of its package in models: a run, an entry of a board, a token.
//
// In reading order:
//
//	page.go, layout.templ     parts of every page: title, viewer, CSRF token, head and foot
//	parts.templ               small components: times, quantities, people, pagers
//	links.go                  addresses of pages, escaped once, from the site's root: web/basepath adds the path of a site below one
//	home, task, submit, submission, run, board, history (.templ)      the way of a visitor; run.go shapes a run's card
//	task_edit, task_preview, task_settings, task_docs (.templ)        making tasks
//	playground, evaluation, profile_pages, profile_run (.templ)       single kernels, and profiles
//	devices, workers, credentials, clocks, trust, user, me (.templ)   operating, accounts
//	text.go, markdown.go, highlight.go, remarks.go                    names for people; texts from strangers; sources
//
// Below it: format (numbers, times, sentences), diff (two texts), charts (SVG of profiles).
//
// It promises: pages work without JavaScript; nothing inline breaks the content security policy; templ escapes strangers'
// texts, and Markdown is sanitised. Ids and data-… attributes are read by static/ and by tests.
//
// What may go wrong: *_templ.go are generated (`make generate`) and committed; views/generated_test.go fails when they are
// stale. Texts are checked against retired phrases by app/words_test.go.
package views
