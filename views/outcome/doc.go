// Package outcome says in short sentences what a ranked run means on its board.
//
// Of in outcome.go makes them of a boards.Outcome. The run's card, the workbench, the command line and webhooks all show these, so
// that they say the same.
package outcome
