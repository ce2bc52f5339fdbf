// Package dispatch answers workers from the database, and watches their attempts. Runs and evaluations take the same path;
// they differ only in the content of a job (next.go) and in what a result is worth (package scores).
//
// Read it in this order: dispatch.go (the interfaces to the queue and to watchers); workers.go (syncs, events and results),
// sentinel.go (what a sync says of its slots), next.go (the next job); then dispatcher.go (a pass: announce work that waits, take
// back what is lost, preempt follow-ups), watch.go (which attempts will never end), cancel.go, and ahead.go (tasks that workers
// precompile).
//
// The command that serves makes a Dispatcher, has it answer (queue.Queue.Serve) and runs it; handlers call Wake, Cancel, CancelEvaluation and Kick.
//
// It promises that it keeps no state of importance in memory: after a crash at any point, a new process over the same store
// goes on. Each request of a worker is one transaction, answered after it; watchers are notified after the commit. Work
// begins only when a worker asks for it, so that cancelling, preempting and the fair order take effect at once.
//
// What may go wrong: silence of a worker and silence of the site look the same from here. Before an attempt is given
// up the watch asks whether the site was away (resetClock), and takeBack whether the database takes writes.
// Several processes watch at once: FailAttempt and PreemptAttempt succeed for only one.
package dispatch
