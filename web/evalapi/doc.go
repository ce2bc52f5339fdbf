// Package evalapi is the unversioned evaluation API, in the format of the CUDA Evaluation Server V2: a request waits
// for its answer. Only this package has that format; site/evaluations has the code that it shares with /api/v1. Later
// versions only add fields to answers.
//
// Read evalapi.go (refusals and failures in this API's shape), handlers.go, wait.go (a caller who leaves cancels),
// late.go (behind a proxy the head goes out before the answer, because proxies end requests without traffic).
package evalapi
