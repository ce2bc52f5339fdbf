// Package diff compares two texts line by line, for the changes of a task and the sources of two runs.
//
// It is a Comparison of one or several pairs of texts over rsc's anchored diff (github.com/rogpeppe/go-internal/diff), which takes time
// n log n in the worst case and prefers lines that occur once as the places where both texts agree. Such a script is
// readable, but not always the shortest: lines that repeat may be shown as removed and added. Its output, a unified
// diff with three lines of context, is read back into numbered lines; folding happens there and nowhere else.
//
// Promise: texts of 1 MB cost no more than a request may. Those of more than 20,000 lines are not compared, and 5,000 lines of
// the result are shown; a line says so.
package diff
