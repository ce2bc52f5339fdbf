// Package taskrun takes a run of a task through its stages: build, then test and ranked (or benchmark, or profile) on
// the held slots. A bundle that brings its own program has a benchmark stage between the two, and a secret pass at the
// end.
//
// In reading order: plan.go lists the stages of a job; run.go builds, runs, and scores; stage.go runs one stage and
// parses the program's report while it is written; secrecy.go hides secret values; measure.go decides on the number of
// fresh processes that measure a score; sanitize.go and validate.go are the stages of these modes.
//
// The worker calls Build, SlotCount, Run, and Conclude, in this order (evaluator.Work).
//
// The first stage that does not pass is the last. A secret pass reports only pass or fail. Clocks in the report of a
// program that measures itself are dropped: only a judge has them.
package taskrun
