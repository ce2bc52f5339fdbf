// Package diff compares two texts line by line, for the changes of a task and the sources of two runs.
//
// A Comparison handles one or several pairs of texts with rsc's anchored diff (github.com/rogpeppe/go-internal/diff),
// which takes time n log n in the worst case and prefers lines that occur once as the places where both texts agree.
// Its result is readable, but not always the shortest: repeated lines may be shown as removed and added. Its output, a
// unified diff with three lines of context, is parsed back into numbered lines; folding happens only there.
//
// Texts of 1 MB cost no more than a request may. Texts of more than 20,000 lines are not compared, and 5,000 lines of
// the result are shown; a line notes that.
package diff
