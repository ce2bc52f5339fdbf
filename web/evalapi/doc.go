// Package evalapi is the unversioned evaluation API, in the shapes of the CUDA Evaluation Server V2: a request waits
// for its answer. Only this package has the shapes; site/evaluations has what it shares with /api/v1. Its answers only
// get additions.
//
// Read evalapi.go (refusals and failures in this API's shape), handlers.go, wait.go (a caller who leaves cancels),
// late.go (behind a proxy the head goes out before the answer, because proxies end requests without traffic).
package evalapi
