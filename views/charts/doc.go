// Package charts draws what Nsight Compute measured: the details page of a run, two runs side by
// side, the run's timeline and the repeats of a case. Charts are SVG made on the server, readable
// without scripts, each with its numbers in a table below it.
//
// The components bring no page layout of their own. They need profile.css in the site's stylesheet
// and its colour properties (--ink, --line, --accent …), and no inline styles or scripts, so that
// the strictest content security policy holds.
package charts
