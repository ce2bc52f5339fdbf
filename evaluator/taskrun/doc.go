// Package taskrun takes a run of a task through its stages: build, then test and ranked (or benchmark, or profile) on the
// units held. One of a bundle that brings its own program has a benchmark stage between the two, and then a secret pass.
//
// In reading order: plan.go lists the stages of a job; run.go builds, runs and scores; stage.go runs one stage and
// reads the program's report while it is written; measure.go decides in how many fresh processes a score is measured.
//
// The worker calls Build, Units, Run and Conclude, in this order (evaluator.Work).
//
// The first stage that does not pass is the last. Nothing leaves a secret pass but pass or fail. What a program that
// measures itself says of clocks is dropped: only a judge has them.
package taskrun
