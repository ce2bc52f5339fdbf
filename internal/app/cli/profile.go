package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

func profileCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{Use: "profile", Short: "read the Nsight Compute profile of a run"}
	var device, kind, out string
	var index int
	get := &cobra.Command{Use: "get SUBMISSION", Short: "print or save the profile of a submission's run", Args: console.ExactArgs("SUBMISSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseSubmissionID(args[0])
			if err != nil {
				return err
			}
			if !slices.Contains([]string{"txt", "json", "csv", "ncu-rep", "ptx"}, kind) {
				return console.NewUsageError("--format %q: want txt, json, csv, ncu-rep or ptx", kind)
			}
			if c.json {
				kind = "json"
			}
			return c.profile(cmd.Context(), id, device, kind, index, out)
		}}
	get.Flags().StringVar(&device, "device", "", "device of the run; default: the only one")
	get.Flags().StringVar(&kind, "format", "txt", "txt, json, csv, ncu-rep or ptx (of the longest kernel)")
	get.Flags().IntVar(&index, "case", 0, "number of the benchmark case, from 0")
	get.Flags().StringVarP(&out, "output", "o", "", "file to write; default: standard output")
	cmd.AddCommand(get)
	return console.CommandGroup(cmd)
}

func (c *connection) profile(ctx context.Context, id int64, device, kind string, index int, out string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	sub, err := site.Submission(ctx, id)
	if err != nil {
		return err
	}
	run, err := runOnDevice(sub, device)
	if err != nil {
		return err
	}
	data, err := site.Download(ctx, client.ProfilePath(id, run.ID, kind, index))
	if err != nil {
		return err
	}
	if c.jqFilter != nil {
		var picked bytes.Buffer
		if err := c.jqFilter.Print(&picked, json.RawMessage(data)); err != nil {
			return err
		}
		data = picked.Bytes()
	}
	if out != "" {
		return os.WriteFile(out, data, 0o644)
	}
	// A pipe receives the bytes without changes, except for text, which people read through pipes, too.
	if kind == "txt" || console.IsTerminal(c.env.Stdout) {
		data = []byte(console.RemoveControlCharacters(string(data)))
	}
	_, err = c.env.Stdout.Write(data)
	return err
}

func runOnDevice(sub *client.Submission, device string) (client.Run, error) {
	var devices []string
	for _, run := range sub.Runs {
		if devices = append(devices, run.Device); run.Device == device || device == "" && len(sub.Runs) == 1 {
			return run, nil
		}
	}
	return client.Run{}, console.NewUsageError("choose a run of submission %d with --device: %q", sub.ID, devices)
}

// runOfSubmission returns the run of a submission on a device, or its only run if device is "".
func runOfSubmission(ctx context.Context, site *client.Client, text, device string) (run client.Run, err error) {
	id, err := parseSubmissionID(text)
	if err != nil {
		return run, err
	}
	sub, err := site.Submission(ctx, id)
	if err != nil {
		return run, err
	}
	return runOnDevice(sub, device)
}

// scoreChange is the result of comparing a score with an earlier one.
type scoreChange string

const (
	changeSame   scoreChange = "the same"
	changeFaster scoreChange = "faster"
	changeSlower scoreChange = "slower"
)

// scoreChangeOf compares the scores of two runs. Boards compare scores with another rule.
func scoreChangeOf(old, now client.Run) scoreChange {
	switch {
	case scoresAgree(old, now):
		return changeSame
	case *now.ScoreNS < *old.ScoreNS:
		return changeFaster
	}
	return changeSlower
}

// minRelativeDifference is the relative difference up to which two scores are equal, as on a board.
const minRelativeDifference = 0.005

// scoresAgree reports whether two scores differ by at most minRelativeDifference, or their intervals overlap. Without
// an interval, only the score itself is compared.
func scoresAgree(a, b client.Run) bool {
	if math.Abs(*a.ScoreNS-*b.ScoreNS) <= minRelativeDifference*min(*a.ScoreNS, *b.ScoreNS) {
		return true
	}
	low, high := scoreInterval(a)
	otherLow, otherHigh := scoreInterval(b)
	return low <= otherHigh && otherLow <= high
}

func scoreInterval(run client.Run) (low, high float64) {
	if run.IntervalLow == nil || run.IntervalHigh == nil {
		return *run.ScoreNS, *run.ScoreNS
	}
	return *run.IntervalLow, *run.IntervalHigh
}
