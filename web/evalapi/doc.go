// Package evalapi is the unversioned evaluation API, in the shapes that clients of the CUDA Evaluation Server V2
// know: a request waits for its answer. The shapes stay in here; what is shared with /api/v1 is in
// site/evaluations. What it answers is added to and never changed.
//
// Read evalapi.go (refusals and failures in this API's shape), handlers.go, wait.go (a caller who leaves cancels), late.go
// (behind a proxy the head goes out before there is an answer, because proxies give up silent callers).
package evalapi
