package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"warpboard/statement"
	"warpboard/web/client"
)

func profileCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{Use: "profile", Short: "read what Nsight Compute measured of a run"}
	var device, kind, out string
	var index int
	get := &cobra.Command{Use: "get SUBMISSION", Short: "print or keep the profile of a submission's run", Args: exactly("SUBMISSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := submissionID(args[0])
			if err != nil {
				return err
			}
			if !slices.Contains([]string{"txt", "json", "csv", "ncu-rep", "ptx"}, kind) {
				return Usage("--format %q: want txt, json, csv, ncu-rep or ptx", kind)
			}
			if c.json {
				kind = "json"
			}
			return c.profile(cmd.Context(), id, device, kind, index, out)
		}}
	get.Flags().StringVar(&device, "device", "", "of which run; default: the only one")
	get.Flags().StringVar(&kind, "format", "txt", "txt, json, csv, ncu-rep or ptx (of the longest kernel)")
	get.Flags().IntVar(&index, "case", 0, "number of the benchmark case, from 0")
	get.Flags().StringVarP(&out, "output", "o", "", "file to write; default: the standard output")
	cmd.AddCommand(get)
	return cmd
}

func (c *connection) profile(ctx context.Context, id int64, device, kind string, index int, out string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	sub, err := site.Get(ctx, id)
	if err != nil {
		return err
	}
	run, err := onlyRun(sub, device)
	if err != nil {
		return err
	}
	data, err := site.Download(ctx, client.ProfilePath(id, run.ID, kind, index))
	if err != nil {
		return err
	}
	if out != "" {
		return os.WriteFile(out, data, 0o644)
	}
	// A pipe gets the bytes as they are, but for text, which people read there, too.
	if kind == "txt" || isTerminal(c.env.Stdout) {
		data = []byte(clean(string(data)))
	}
	_, err = c.env.Stdout.Write(data)
	return err
}

func onlyRun(sub *client.Submission, device string) (client.Run, error) {
	var devices []string
	for _, run := range sub.Runs {
		if devices = append(devices, run.Device); run.Device == device || device == "" && len(sub.Runs) == 1 {
			return run, nil
		}
	}
	return client.Run{}, Usage("say with --device which run of submission %d: %q", sub.ID, devices)
}

// runOf is a submission's run on a device, or its only one.
func runOf(ctx context.Context, site *client.Client, text, device string) (run client.Run, err error) {
	id, err := submissionID(text)
	if err != nil {
		return run, err
	}
	sub, err := site.Get(ctx, id)
	if err != nil {
		return run, err
	}
	return onlyRun(sub, device)
}

func compareCommand(c *connection) *cobra.Command {
	var device string
	cmd := &cobra.Command{Use: "compare A B", Short: "compare two submissions: scores with their intervals, case by case", Args: exactly("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.compare(cmd.Context(), args, device) }}
	cmd.Flags().StringVar(&device, "device", "", "of which runs; default: the only ones")
	return cmd
}

// compared is as much of a comparison as is printed.
// Of a page's own JSON (/compare.json), whose other keys are left out.
type compared struct {
	Cases []struct {
		Spec string
		A, B *struct{ Median, Mean float64 }
	}
}

func (c *connection) compare(ctx context.Context, args []string, device string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	var runs [2]client.Run
	for i, text := range args {
		if runs[i], err = runOf(ctx, site, text, device); err != nil {
			return err
		}
	}
	query := fmt.Sprintf("?a=%d&b=%d", runs[0].ID, runs[1].ID)
	data, err := site.Download(ctx, "/compare.json"+query)
	if err != nil {
		return err
	}
	if c.json {
		return c.answer(json.RawMessage(data), nil, nil)
	}
	var found compared
	if err := json.Unmarshal(data, &found); err != nil {
		return fmt.Errorf("read the comparison: %w", err)
	}
	s := c.screen()
	s.line("%s", verdictOf(runs[0], runs[1]))
	s.table("CASE\tA\tB\tB/A", len(found.Cases), func(i int) []any {
		one := found.Cases[i]
		// A case that one of the two does not have: another version of the task.
		if one.A == nil || one.B == nil {
			return []any{one.Spec, "", "", ""}
		}
		a, b := cmp.Or(one.A.Median, one.A.Mean), cmp.Or(one.B.Median, one.B.Mean)
		return []any{one.Spec, ns(a), ns(b), fmt.Sprintf("%.3f", b/a)}
	})
	s.line("%s/compare%s", site.Base(), query)
	return nil
}

// verdictOf compares two scores as a board does: those whose intervals touch are not told apart.
func verdictOf(a, b client.Run) string {
	if a.ScoreNS == nil || b.ScoreNS == nil {
		return fmt.Sprintf("run %d is %s, run %d is %s: not both have a score", a.ID, a.State, b.ID, b.State)
	}
	line := fmt.Sprintf("A %v, B %v: ", ns(*a.ScoreNS), ns(*b.ScoreNS))
	switch change := changeOf(a, b); change {
	case same:
		return line + "the data show no difference"
	default:
		// By the larger ratio, so that it is positive in both directions.
		return line + fmt.Sprintf("B is %s by %.1f %%", change, 100*max(*a.ScoreNS / *b.ScoreNS - 1, *b.ScoreNS / *a.ScoreNS - 1))
	}
}

// change is how a score stands to an older one.
type change string

const (
	same   change = "the same"
	faster change = "faster"
	slower change = "slower"
)

// Both have a score here. The rule is the statement's (Agrees), which verify-result uses as well; boards have one of
// their own (bands).
func changeOf(old, now client.Run) change {
	switch {
	case scoreOf(old).Agrees(scoreOf(now)):
		return same
	case *now.ScoreNS < *old.ScoreNS:
		return faster
	}
	return slower
}

func scoreOf(run client.Run) statement.Score {
	return statement.Score{NS: *run.ScoreNS, Low: run.IntervalLow, High: run.IntervalHigh, Processes: run.Processes, Noisy: run.Noisy}
}
