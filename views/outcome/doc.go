// Package outcome describes the effect of a ranked run on its board in short sentences.
//
// DescribeOutcome in outcome.go makes them from a boards.Outcome. The run's card, the workbench, the command line, and
// webhooks all show these, so that they agree.
package outcome
