// Package budgets limits for how long one person's work may hold GPUs in a day (UTC): as admins set it, for everybody and
// for single people. There are no teams. Admins have no limit.
//
// What counts is the time for which runs and evaluations that ended, or were cancelled, held GPUs, times their number; not
// compiling, not waiting, not what was handed back or failed by an infrastructure error, or what the site runs on its own
// (profiles that follow, confirmations, baselines). Charges are kept apart from the work: deleting it gives nothing back.
// Check refuses a submission when nothing is left.
//
// Weakness: what is under way counts when it has ended, so the last submissions of a day may go over by what waits and runs
// (--waiting-runs). Cancelled work whose worker never reports is free. A day has no memory of the one before.
package budgets
