// Package versus says what the times of two runs show of each other: B's time over A's, with an interval, by the score
// and by case. It is a leaf below the pages that compare runs.
//
// Intervals come from fresh processes of each side alone; repeats within one process say nothing of the next one, so
// that a run without fresh processes gets a ratio and no interval. The two runs were not measured in turns: what differs
// between their machines and days is in the ratio, and in no interval. Differences below the resolution of boards
// therefore count as none.
package versus
