// Package submissions accepts submissions, and lists them.
//
//	submission.go        Submission; MaySeeSource: the right to read a source
//	submit.go            Submit: from the checks to queued runs in one transaction, or nothing at all
//	submit_again.go      the same request, sent again because its answer was lost
//	limits.go            limits of a person's submissions
//	hints.go             patterns in a source that request a review
//	submission_list.go   submissions for lists, and a person's days
//
// The site, its API, and its MCP server submit; package models queues baselines in the same way (StoreAndQueue),
// without limits. The rows of queued runs are the queue's truth: nothing is sent from here, the dispatcher finds them.
//
// Traps: limits count rows, so a deleted submission no longer counts. Store.DeleteSubmission therefore waits until it
// would not count anyway. A submission that waits for a device without a worker waits forever; the queue page shows
// that.
package submissions
