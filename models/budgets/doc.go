// Package budgets limits for how long one person's work may hold GPUs in a day (UTC): as admins set it, for everyone and
// for single people, and for teams, which admins make: a submission needs something left of the person's and of the team's. A person is in
// one team at most, and brings today's use along. Admins have no limit; what they use counts for their team.
//
// What counts is the time for which runs and evaluations that ended, or were cancelled, held GPUs, times their number; not
// compiling, not waiting, not what was handed back or failed by an infrastructure error, or what the site runs on its own
// (profiles that follow, confirmations, baselines). Charges are kept apart from the work: deleting it gives nothing back.
// Check refuses a submission when nothing is left.
//
// What waits and runs counts by what the person's last work of its kind held on average, all tokens together: while that takes what
// is left, nothing more is taken.
//
// Weakness: that is a guess, so the last submissions of a day may go over by as much as they take longer than those before, and
// someone's first ones by all that may wait (--waiting-runs); a team's by what other members have waiting. Cancelled work whose worker never reports is free. A day has no
// memory of the one before.
package budgets
