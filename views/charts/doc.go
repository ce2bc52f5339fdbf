// Package charts draws measurements of Nsight Compute: the details page of a run, two runs side by side, the run's
// timeline, and the repeats of a case. Charts are SVG made on the server, readable without scripts, each with its
// numbers in a table below it.
//
// In reading order: details.go with details.templ (the page and its view model), findings.go (the top of the page),
// query.go (the page's state, all of it in the URL), parts.templ (facts and tables), bars.go, roofline.go with
// rooflabels.go (labels that do not overlap), memory.go, source.go, rawtable.go; compare.go with why.go and overlay.go,
// repeats.go, and timeline.go are separate parts of pages. format.go formats ncu's metrics using views/format.
//
// Handlers of web and components of views use it. The components have no page layout. They need profile.css in the
// site's stylesheet and its color properties (--ink, --line, --accent …), and use no inline styles or scripts, so that
// they work with the strictest content security policy.
//
// Every shown number has its origin (data-from) and matches the raw page, which golden tests compute again. Drawing
// terminates for every number: scales count in whole steps, and positions are limited.
package charts
