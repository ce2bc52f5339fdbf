// Package boardchart draws a board: how its best score fell, and the scores of all entries. The drawing is SVG made on the
// server; it needs app.css for its colours, and no script. It promises to terminate for every number: scales count in whole
// steps, and dots without a place in 32 lanes are left out.
//
// In reading order: boardchart.go (what is drawn, and its layout), scale.go (round scores), boardchart.templ.
package boardchart
