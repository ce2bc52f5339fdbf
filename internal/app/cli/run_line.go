package cli

import (
	"context"
	"fmt"
	"net/url"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
	"warpboard/models/work"
	"warpboard/views/format"
)

// run prints how a run stands.
func printRun(s *console.Screen, run client.Run) {
	rest := ""
	if run.Position > 0 {
		rest += fmt.Sprintf("  at place %d of the queue", run.Position)
	}
	if run.ScoreNS != nil {
		rest += fmt.Sprintf("  score %v", console.NS(*run.ScoreNS)) + exactness(run) + pooled(run)
	}
	if run.Failure != nil {
		rest += "  " + run.Failure.Reason
	}
	if run.Disturbed != "" {
		rest += "  disturbed: " + run.Disturbed
	}
	if run.HeldWhy != "" {
		rest += "  held back from its board: " + run.HeldWhy
	}
	if run.Disqualified != nil {
		rest += "  disqualified: " + run.DisqualifiedWhy
	}
	if run.Profile != "" {
		rest += "  profile " + run.Profile
	}
	s.Painted(run.Device, run.State, rest)
}

// exactness is a score's interval.
func exactness(run client.Run) string {
	text := ""
	if run.IntervalLow != nil && run.IntervalHigh != nil {
		text = fmt.Sprintf(" (%v to %v at 95 %%, %d processes)", console.NS(*run.IntervalLow), console.NS(*run.IntervalHigh), run.Processes)
	}
	if run.Noisy {
		text += " noisy"
	}
	return text
}

// mostBoardPages bounds how far a board is read for one entry: to the 5,000th.
const mostBoardPages = 50

// standing prints the rank that a ranked run gave its person. It prints nothing if the board cannot be read, or belongs to
// another version.
func (w *watcher) standing(ctx context.Context, sub *client.Submission, run client.Run) {
	if sub.Mode == work.ModePractice {
		w.out.Line("%-6s practice: the deadline has passed, so the score is on no board", run.Device)
	}
	if sub.Mode != job.ModeRanked || run.State != string(work.StateDone) || run.ScoreNS == nil {
		return
	}
	for page := 1; page <= mostBoardPages; page++ {
		board, err := w.site.Board(ctx, sub.Task, run.Device, page)
		if err != nil || board.Version != sub.Version || len(board.Entries) == 0 {
			return
		}
		for _, e := range board.Entries {
			if e.User.ID == sub.User.ID {
				w.out.Line("%-6s %s  %s/tasks/%s/boards/%s", run.Device, placed(sub, e, board.Total), w.site.Base(), url.PathEscape(sub.Task), url.PathEscape(run.Device))
				return
			}
		}
	}
}

// placed says of an entry whether it is this submission.
func placed(sub *client.Submission, e client.Entry, total int) string {
	if e.Older { // behind all others, and not compared with them
		e.Rank, e.Tied = 0, false
	}
	rank := fmt.Sprintf("rank %s of %d", format.Place(e.Rank, e.Tied), total)
	if e.Confirming {
		rank += " (waits to be confirmed)"
	}
	if e.SubmissionID == sub.ID {
		return rank + ", the best of " + e.User.Name
	}
	return fmt.Sprintf("%s; the best of %s is submission %d with %v", rank, e.User.Name, e.SubmissionID, console.NS(e.ScoreNS))
}
