package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/views/outcome"
)

// printRun prints the state of a run.
func printRun(s *console.Screen, run client.Run) {
	rest := ""
	if run.QueuePosition > 0 {
		rest += fmt.Sprintf("  at place %d of the queue", run.QueuePosition)
	}
	if run.ScoreNS != nil {
		rest += fmt.Sprintf("  score %v", console.Nanoseconds(*run.ScoreNS)) + intervalText(run) + pooledScoreNote(run)
	}
	if run.Failure != nil {
		rest += "  " + run.Failure.Reason
	}
	if run.DisturbanceReason != "" {
		rest += "  disturbed: " + run.DisturbanceReason
	}
	if run.HoldReason != "" {
		rest += "  held back from its board: " + run.HoldReason
	}
	if run.DisqualifiedAt != nil {
		rest += "  disqualified: " + run.DisqualifiedReason
	}
	if run.Libraries != "" {
		rest += "  the task refuses libraries, and the profile lists " + strings.ReplaceAll(run.Libraries, "\u00a0", " ")
	}
	if run.Profile != "" {
		rest += "  profile " + run.Profile
	}
	s.PrintState(run.Device, run.State, rest)
	for _, stage := range run.Stages {
		for _, f := range stage.Findings {
			s.PrintLine("%-6s %s", run.Device, findingLine(f))
		}
	}
}

// findingLine formats a finding of compute-sanitizer as a line: "submission.cu:12: error: memcheck: Invalid …".
func findingLine(f job.Finding) string {
	kind := "error"
	if f.IsWarning {
		kind = "warning"
	}
	text := fmt.Sprintf("%s: %s: %s", kind, f.Tool, f.Message)
	if f.Line > 0 {
		text = fmt.Sprintf("%s:%d: %s", f.File, f.Line, text)
	}
	if f.Kernel != "" {
		text += " in " + f.Kernel
	}
	if f.Occurrences > 1 {
		text += fmt.Sprintf(" (%d times)", f.Occurrences)
	}
	return text
}

// intervalText formats a score's interval.
func intervalText(run client.Run) string {
	text := ""
	if run.IntervalLow != nil && run.IntervalHigh != nil {
		text = fmt.Sprintf(" (%v to %v at 95 %%, %d processes)", console.Nanoseconds(*run.IntervalLow), console.Nanoseconds(*run.IntervalHigh), run.Processes)
	}
	if run.Noisy {
		text += " noisy"
	}
	return text
}

// isCallersSubmission reports whether a submission belongs to the caller. It calls the site only if the result changes
// the output.
func isCallersSubmission(ctx context.Context, site *client.Client, sub *client.Submission) bool {
	if !slices.ContainsFunc(sub.Runs, func(run client.Run) bool { return run.Outcome != nil }) {
		return false
	}
	me, err := site.CurrentUser(ctx)
	return err == nil && me.ID == sub.User.ID // a caller without an account has no submissions
}

// printOutcome prints the effect of a ranked run on its board, with the text of the run's page. mine selects the text
// for the owner of the run instead of that for others.
func printOutcome(s *console.Screen, sub *client.Submission, run client.Run, mine bool) {
	if sub.Mode == work.ModePractice {
		s.PrintLine("%-6s practice: the deadline has passed, so the score is on no board", run.Device)
	}
	if run.Outcome == nil || run.ScoreNS == nil {
		return
	}
	var facts []string
	for _, fact := range outcome.DescribeOutcome(boards.Outcome(*run.Outcome), run.Device, *run.ScoreNS, mine) {
		facts = append(facts, strings.ReplaceAll(fact.Text, "\u00a0", " "))
	}
	if len(facts) > 0 {
		s.PrintLine("%-6s %s", run.Device, strings.Join(facts, ". "))
	}
}
