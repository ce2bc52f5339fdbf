// Package dispatch answers workers out of the database, and watches over what they have. Runs and evaluations go the same way:
// only what is in a job (next.go) and what a result is worth (score.go, evaluation_report.go) differs.
//
// Read it in this order: dispatch.go (what it needs of the queue, and whom it tells); recorder.go (syncs, events and results),
// next.go (the next job), score.go and evaluation_report.go (what the site itself makes of a result); then dispatcher.go (a pass:
// announce work that waits, take back what is lost, preempt follow-ups), watch.go (which attempts will never end), cancel.go, and
// prepare.go (hints about tasks, so that workers precompile).
//
// The command that serves makes one of each and runs them; handlers call Wake, Cancel, CancelEvaluation and Kick.
//
// It promises that it keeps nothing that matters in memory: after a crash at any point, new ones over the same store go on.
// Each request of a worker is one transaction, answered after it; watchers are told after the database knows. Work begins when a
// worker asks for it and not before, so that a cancelled or preempted attempt and the fair order take effect at once.
//
// What may go wrong: silence of a worker and silence of the site look the same from here. Before an attempt is given
// up the watch asks whether the site was away (resetClock), and takeBack whether the database takes writes.
// Several processes watch at once: FailAttempt and PreemptAttempt let one win.
package dispatch
