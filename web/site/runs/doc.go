// Package runs is the part of submissions that pages, the API, and metrics share: access rights, submitting, and a
// run's view for people.
//
// Read access.go first (every way to a submission, a run, or a board checks the sender's rights here), then read.go
// (ReadSubmission returns a submission with all that its viewer may see, which each form of it renders), submit.go,
// form.go, and files.go (data from a browser), card.go (a run with its rank), stages.go (its stages and timeline),
// wait.go (its place in the queue), profile.go (its reports of Nsight Compute), measures.go (times beside the work that
// the task declares), devices.go (slots and queues), follow.go (a submission's events, each once and in order).
//
// A card never has programs' output unless the viewer may see the source, which the output may quote.
package runs
