// Package attempt is one try of a job by this worker: the result under way, the events that report it, and how it ended. It
// holds what runs of tasks and evaluations of kernels share.
//
// In reading order: attempt.go enters and leaves stages and holds slots; events.go and logstream.go tell watchers what
// happens, in order and within bounds; conclude.go turns the error that ended the attempt into an outcome.
//
// taskrun and kernelrun/evaluation embed an Attempt; the worker makes it and asks for Conclude.
//
// The error that ends an attempt has one of four kinds: a Rejection (the submission failed, which is a normal
// end), ErrCancelled, ErrStopping or slots.ErrOutOfService (the job is handed back), and everything else, which is an
// infrastructure error. Suspected marks one that the job itself may have caused: it is not retried without end.
//
// Events are a hint: one that cannot be sent is logged and dropped. The result contains everything in them.
package attempt
