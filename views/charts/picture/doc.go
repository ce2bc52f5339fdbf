// Package picture draws a board: how its best score fell, and where everyone stands. The drawing is SVG made on the
// server, needs app.css for its colours, and no script. It promises to end for every number: scales count in whole steps,
// and what has no place among 32 lanes is left out.
//
// In reading order: picture.go (what is drawn, and its layout), scale.go (round scores), picture.templ.
package picture
