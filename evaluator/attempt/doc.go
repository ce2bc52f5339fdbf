// Package attempt is one attempt of a job by this worker: its result so far, the events that report it, and its
// outcome. Runs of tasks and evaluations of kernels share it.
//
// In reading order: attempt.go starts and ends stages and holds slots; events.go and logstream.go report progress to
// viewers, in order and with limits; conclude.go turns the final error into an outcome.
//
// taskrun and kernelrun/evaluation embed an Attempt; the worker creates it and calls Conclude.
//
// The error that ends an attempt has one of four kinds: a Rejection (the submission failed, which is a normal end),
// ErrCancelled, one for which the job is handed back (IsHandedBack), or any other error, which is an infrastructure
// error. MarkCausedByJob marks one that the job itself may have caused, which limits its retries.
//
// Events are hints: if one cannot be sent, it is logged and dropped. The result contains everything in them.
package attempt
