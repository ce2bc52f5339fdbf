// Package dispatch answers workers from the database, and watches their attempts. Runs and evaluations take the same
// path; they differ only in the content of a job (next.go) and in the evaluation of a result (package scores).
//
// Read it in this order: dispatch.go (the interfaces to the queue and to viewers); workers.go (heartbeats, events, and
// results), slot_benchmarks.go (benchmarks in heartbeats), next.go (the next job); then dispatcher.go (a pass: announce
// waiting work, take back lost attempts, preempt follow-ups), watch.go (finding attempts that will never end),
// cancel.go, and preparation.go (tasks that workers precompile).
//
// The serve command creates a Dispatcher, passes it to queue.Queue.Serve, and runs it; handlers call Wake, Cancel,
// CancelEvaluation, and DisconnectWorker.
//
// It keeps no important state in memory: after a crash at any point, a new process over the same store continues. Each
// request of a worker is one transaction and is answered after it; viewers are notified after the commit. Work starts
// only when a worker asks for it, so that cancelling, preempting, and the fair order take effect at once.
//
// Silence of a worker and an outage of the site look the same from here. Before an attempt is taken back, lossDetector
// checks whether the site was suspended (restartSilence), and requeueLost whether the database can write. Several
// processes watch at once: FailAttempt and PreemptAttempt succeed for only one of them.
package dispatch
