// Package versus compares the times of two runs: the ratio of B's time to A's, with an interval, for the score and for
// each case. The pages that compare runs use it.
//
// Intervals use only fresh processes of each side. Repeats within one process show nothing about the next one, so a run
// without fresh processes has a ratio and no interval. The two runs were not measured in alternation: the ratio
// includes differences between their machines and days, but the interval does not. Differences below the resolution of
// boards therefore do not count.
package versus
