// Package versus compares the times of two runs: B's time over A's, with an interval, for the score and for each case. It is
// a leaf below the pages that compare runs.
//
// Intervals come only from fresh processes of each side. Repeats within one process say nothing about the next one, so that
// a run without fresh processes gets a ratio and no interval. The two runs were not measured in turns: differences between
// their machines and days are in the ratio, but not in the interval. Differences below the resolution of boards therefore
// count as none.
package versus
