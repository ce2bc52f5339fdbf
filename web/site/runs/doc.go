// Package runs is what pages, the API and metrics share of submissions: who may see one, how one is submitted,
// and a run as people see it.
//
// Read access.go first (every way to a submission, a run or a board asks here whether the sender may know of
// it), then submit.go, form.go and files.go (what a browser sends), card.go (a run with its rank and what it says of itself), stages.go (its stages and timeline), wait.go (its place in the queue), profile.go (what Nsight Compute left of
// it), measures.go (times beside the work that the task declares), devices.go (slots and queues), follow.go
// (a submission's events, each once and in order).
//
// A card never holds what programs printed unless the reader may see the source, which the output may quote.
package runs
