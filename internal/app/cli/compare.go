package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

func compareCommand(c *connection) *cobra.Command {
	var device string
	cmd := &cobra.Command{Use: "compare A B", Short: "compare two submissions: scores with their intervals, case by case", Args: console.ExactArgs("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.compare(cmd.Context(), args, device) }}
	cmd.Flags().StringVar(&device, "device", "", "device of the runs; default: the only one")
	return cmd
}

// comparison has those fields of /compare.json that are printed.
type comparison struct {
	A, B  comparedSide
	Ratio *timeRatio
	Cases []struct {
		Spec  string
		A, B  *struct{ Median, Mean float64 }
		Ratio *timeRatio
	}
}

// comparedSide is one of two runs. ScoreNS is computed from the times of this run alone, like the ratio. BoardNS is the
// score on the board if it is different, because it includes other runs or a confirmation.
type comparedSide struct {
	Submission int64
	Mode       string
	ScoreNS    *float64 `json:"score_ns"`
	BoardNS    *float64 `json:"board_score_ns"`
	PooledRuns int      `json:"pooled_runs"`
}

// timeRatio is the time of run B divided by that of run A, with its 99 % interval if there is one.
type timeRatio struct {
	Value, Low, High float64
	IsClear          bool `json:"apart"`
}

func (c *connection) compare(ctx context.Context, args []string, device string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	var runs [2]client.Run
	for i, text := range args {
		if runs[i], err = runOfSubmission(ctx, site, text, device); err != nil {
			return err
		}
	}
	query := fmt.Sprintf("?a=%d&b=%d", runs[0].ID, runs[1].ID)
	data, err := site.Download(ctx, "/compare.json"+query)
	if err != nil {
		return err
	}
	if c.json {
		return c.printAnswer(json.RawMessage(data), nil, nil)
	}
	var found comparison
	if err := json.Unmarshal(data, &found); err != nil {
		return fmt.Errorf("read the comparison: %w", err)
	}
	printCompared(c.newScreen(), found)
	c.newScreen().PrintLine("%s/compare%s", site.BaseURL(), query)
	return nil
}

func printCompared(s *console.Screen, found comparison) {
	s.PrintLine("%s", found.verdictText())
	for i, side := range []comparedSide{found.A, found.B} {
		if note := side.boardScoreText(); note != "" {
			s.PrintLine("%c here is submission %d alone; %s", 'A'+i, side.Submission, note)
		}
	}
	s.PrintTable("CASE\tA\tB\tB/A", len(found.Cases), func(i int) []any {
		one := found.Cases[i]
		// Only one of the runs has the case, because they ran different versions of the task.
		if one.A == nil || one.B == nil {
			return []any{one.Spec, "", "", ""}
		}
		a, b := cmp.Or(one.A.Median, one.A.Mean), cmp.Or(one.B.Median, one.B.Mean)
		return []any{one.Spec, console.Nanoseconds(a), console.Nanoseconds(b), fmt.Sprintf("%.3f", b/a)}
	})
}

// boardScoreText describes the score on the board if it is different; otherwise "".
func (s comparedSide) boardScoreText() string {
	switch {
	case s.BoardNS == nil:
		return ""
	case s.PooledRuns > 1:
		return fmt.Sprintf("its board shows %v, from %d runs of this source combined", console.Nanoseconds(*s.BoardNS), s.PooledRuns)
	}
	return fmt.Sprintf("its board has %v, measured again since", console.Nanoseconds(*s.BoardNS))
}

// verdictText describes the result of the comparison.
func (f comparison) verdictText() string {
	if f.Ratio == nil || f.Ratio.Value <= 0 {
		return f.noTimesReason()
	}
	line, r := "", *f.Ratio
	if f.A.ScoreNS != nil && f.B.ScoreNS != nil {
		line = fmt.Sprintf("A %v, B %v: ", console.Nanoseconds(*f.A.ScoreNS), console.Nanoseconds(*f.B.ScoreNS))
	}
	word := "faster"
	if r.Value > 1 {
		word = "slower"
	}
	switch {
	case r.Low <= 0:
		return line + fmt.Sprintf("B takes %.3f times as long; a clear difference needs fresh processes of both runs", r.Value)
	case !r.IsClear:
		return line + fmt.Sprintf("no clear difference (B takes %.3f times as long, %.3f to %.3f at 99 %%)", r.Value, r.Low, r.High)
	}
	return line + fmt.Sprintf("B is %s: it takes %.3f times as long (%.3f to %.3f at 99 %%)", word, r.Value, r.Low, r.High)
}

// noTimesReason explains why two runs have no times to compare.
func (f comparison) noTimesReason() string {
	for _, side := range []comparedSide{f.A, f.B} {
		if side.Mode == "test" {
			return fmt.Sprintf("submission %d is a test and has no times: submit it with --mode ranked or benchmark to compare it", side.Submission)
		}
	}
	return fmt.Sprintf("submissions %d and %d have no timed case in common", f.A.Submission, f.B.Submission)
}

// pooledScoreNote returns a note if a score combines several runs, or if the board shows another run; otherwise "".
func pooledScoreNote(run client.Run) string {
	switch {
	case run.PooledRuns > 1:
		return fmt.Sprintf(" from %d runs of this source combined", run.PooledRuns)
	case run.PoolRepresentativeRun > 0 && run.PoolRepresentativeRun != run.ID:
		return fmt.Sprintf(" of this run alone; on the board run %d stands for all runs of this source", run.PoolRepresentativeRun)
	}
	return ""
}
