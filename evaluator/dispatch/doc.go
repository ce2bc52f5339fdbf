// Package dispatch is the one bridge between the database and the queue. The Dispatcher makes jobs of rows that wait;
// the Recorder makes rows of what workers report. Runs and evaluations go the same way: only what is in a job
// (publish.go) and what a result is worth (score.go, evaluation_report.go) differs.
//
// Read it in this order: dispatch.go (what it needs of the queue, and whom it tells), dispatcher.go (a pass: take back
// what is lost, fill the queue, preempt profiles), publish.go (a job of an attempt), watch.go (which attempts will
// never end), lease.go (whose turn it is among several processes of one site), prepare.go (hints about tasks, so that workers precompile); then recorder.go (results and heartbeats),
// batch.go (events), score.go and evaluation_report.go (what the site itself makes of a result).
//
// The command that serves makes one of each and runs them; handlers call Wake, Cancel, CancelEvaluation and Kick.
//
// It promises that it keeps nothing that matters in memory: after a crash at any point, new ones over the same store
// and queue go on. A job is in the queue once per attempt; a result is acknowledged once it is stored; watchers are
// told after the database knows. The queue never holds more than one job more than a device has slots, so that a
// cancelled or preempted attempt and the fair order take effect soon.
//
// What may go wrong: silence of a worker and silence of the site look the same from here. Before an attempt is given
// up the watch asks whether anybody listened meanwhile (resetClock), and takeBack whether the database takes writes.
// Two replicas that dispatch at once do no harm, for StartAttempt lets one win; their watches judge each on its own.
package dispatch
