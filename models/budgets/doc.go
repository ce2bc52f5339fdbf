// Package budgets limits for how long one person's work may hold GPUs in a day (UTC). Admins set budgets for everyone, for
// single people, and for teams, which they make: a submission needs time left in the person's budget and in the team's. A
// person is in at most one team, and brings today's use along. Admins have no limit; their use counts for their team.
//
// It counts the time for which runs and evaluations that ended, or were cancelled, held GPUs, times their number. It does
// not count compiling, waiting, attempts that were handed back or failed by an infrastructure error, or the site's own runs
// (profiles that follow, confirmations, baselines). Charges are stored apart from the work: deleting it gives nothing back.
// Check refuses a submission if nothing is left.
//
// Waiting and running work counts by the average of the person's last work of its kind, over all tokens: while that uses up
// the rest, new work is refused.
//
// Weakness: that is a guess. The last submissions of a day may exceed the budget by as much as they take longer than earlier
// ones, a person's first ones by everything that may wait (--waiting-runs), and a team's by the waiting work of other
// members. Cancelled work whose worker never reports is free. Each day starts without a carry-over.
package budgets
