// Package quota limits the amount of a resource that a subject may use in a window. It also has what the site stores
// (storage.go: sources and artifacts, by person and by task, and what the sweep deletes next; equal contents of several
// people count for each of them, and once in the total). What admins turn off for a while is in models/switches.
//
// Read rate.go first: the acts of a person in an hour or a day, and what may be unfinished at once. task_limit.go has
// the limits of a task for each person, per mode, and uses.go counts submissions against them. quota.go has the budgets
// of GPU time in a day (UTC), which admins set for everyone, for single people, and for teams (teams.go): a submission
// needs time left in the person's budget and in the team's. A person is in at most one team, and brings today's use
// along. Admins have no limit; their use counts for their team.
//
// Where each limit is checked:
//
//	submissions of a person in an hour, bytes in a day   models/submissions/limits.go
//	submissions to a task, per person and mode           CheckTaskLimits (uses.go)
//	GPU time of a person or a team in a day              CheckBudget (quota.go)
//	evaluations at once and in an hour                   models/work/evaluation_limits.go
//	comments, reports of comments                        models/comments/write.go, models/comments/moderate.go
//	reports of runs, renames                             models/flag.go, models/moderation.go
//	validations of a task                                models/validate.go
//	connections, requests, and bodies of an address      web/site/limits.go
//
// Budgets count the time for which runs and evaluations that ended, or were cancelled, held GPUs, times their number.
// They do not count compiling, waiting, attempts that were handed back or failed by an infrastructure error, or the
// site's own runs (profiles that follow, confirmations, baselines). Charges are stored apart from the work, so deleting
// the work does not refund them. Unfinished work is estimated with the average of the person's last work of its kind,
// over all tokens; while the estimate uses up the rest of the budget, new work is refused.
//
// Weakness: the estimate may be too low. The last submissions of a day may exceed the budget if they take longer than
// earlier ones, a person's first ones by all the work that may wait (--waiting-runs), and a team's by the unfinished
// work of other members. Cancelled work whose worker never reports is free. Each day starts without a carry-over.
package quota
