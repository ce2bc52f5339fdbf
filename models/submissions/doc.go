// Package submissions takes what people submit, and lists it.
//
//	submission.go        Submission; MaySeeSource: who may read a source
//	submit.go            Submit: from the checks to queued runs in one transaction, or nothing at all
//	submit_again.go      the same request, sent again because its answer was lost
//	limits.go            how many a person may have
//	hints.go             what in a source makes someone look at its runs
//	submission_list.go   submissions as lists show them, and a person's days
//
// The site, its API and its MCP server submit; package models queues baselines by the same way (Queue), without limits. The
// rows of queued runs are the queue's truth: nothing is sent from here, the dispatcher finds them.
//
// What may go wrong: limits count rows, so a submission that is deleted counts no more. Store.DeleteSubmission therefore waits
// until it would not count anyway. A submission that waits for a device without a worker waits forever; the queue page says so.
package submissions
