// Package boardchart draws a board: the best score over time, and the scores of all entries. The drawing is SVG made on
// the server; it needs app.css for its colors, and no script. Drawing terminates for every number: scales count in
// whole steps, and dots without a place in 32 lanes are omitted.
//
// In reading order: boardchart.go (content and layout), scale.go (round scores), texts.go (places of texts),
// boardchart.templ.
package boardchart
