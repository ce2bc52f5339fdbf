// Package submissions accepts submissions, and lists them.
//
//	submission.go        Submission; MaySeeSource: the right to read a source
//	submit.go            Submit: checks, and stores a submission with its queued runs in one transaction
//	submit_again.go      the same request, sent again because its answer was lost
//	limits.go            limits of a person's submissions
//	hints.go             patterns in a source that request a review
//	submission_list.go   submissions for lists, and their number per day
//
// The site, its API, and its MCP server submit; package models queues baselines in the same way (StoreAndQueue),
// without limits. A stored run with state queued is all that the queue needs: this package sends no messages, because
// the dispatcher reads waiting runs from the database.
//
// Traps: limits count rows, so a deleted submission no longer counts. Store.DeleteSubmission therefore refuses to
// delete a submission that still counts. A submission to a device without a worker waits forever; the queue page shows
// that.
package submissions
