package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
	"warpboard/views/format"
)

// printAnswer prints a response: as JSON with --json, otherwise with print, which is only called if err is nil.
func (c *connection) printAnswer(what any, err error, print func(*console.Screen)) error {
	switch {
	case err != nil:
		return err
	case c.json:
		return c.jqFilter.Print(c.env.Stdout, what)
	}
	print(c.newScreen())
	return nil
}

func tasksCommand(c *connection) *cobra.Command {
	return &cobra.Command{Use: "tasks", Short: "list a site's tasks", Args: console.ExactArgs(), RunE: func(cmd *cobra.Command, _ []string) error {
		site, err := c.site()
		if err != nil {
			return err
		}
		all, err := site.Tasks(cmd.Context())
		return c.printAnswer(all, err, func(s *console.Screen) {
			s.PrintTable("TASK\tLANGUAGE\tDEVICES\tTITLE", len(all), func(i int) []any {
				return []any{all[i].Slug, all[i].Lang, strings.Join(all[i].Devices, ","), all[i].Title}
			})
		})
	}}
}

func boardCommand(c *connection) *cobra.Command {
	var page int
	cmd := &cobra.Command{Use: "board TASK DEVICE", Short: "print the board of a task on a device", Args: console.ExactArgs("TASK", "DEVICE"), ValidArgsFunction: c.completeBoard,
		RunE: func(cmd *cobra.Command, args []string) error {
			site, err := c.site()
			if err != nil {
				return err
			}
			board, err := site.Board(cmd.Context(), args[0], args[1], page)
			return c.printAnswer(board, err, func(s *console.Screen) {
				s.PrintTable("RANK\tTIME\t±\tPERSON\tSUBMISSION", len(board.Entries), func(i int) []any {
					e := board.Entries[i]
					// Older software: the board lists the entry after all others, without a comparable rank.
					if e.OlderSoftware {
						e.Rank, e.Tied = 0, false
					}
					return []any{format.Rank(e.Rank, e.Tied), console.Nanoseconds(e.ScoreNS), intervalColumn(e), e.User.Name, e.SubmissionID}
				})
				if board.Total > len(board.Entries) {
					s.PrintLine("page %d, of %d entries", board.Page, board.Total)
				}
			})
		}}
	cmd.Flags().IntVar(&page, "page", 1, "page, from 1")
	return cmd
}

// intervalColumn returns half of the interval of a score, or the standard error of its repeats; a tilde marks an
// uncertain score.
func intervalColumn(e client.Entry) string {
	half := e.ErrNS
	if e.IntervalLow != nil && e.IntervalHigh != nil {
		half = (*e.IntervalHigh - *e.IntervalLow) / 2
	}
	if e.Noisy {
		return "~" + console.Nanoseconds(half)
	}
	return console.Nanoseconds(half)
}

func devicesCommand(c *connection) *cobra.Command {
	return &cobra.Command{Use: "devices", Short: "list a site's devices, and how busy they are", Args: console.ExactArgs(), RunE: func(cmd *cobra.Command, _ []string) error {
		site, err := c.site()
		if err != nil {
			return err
		}
		all, err := site.Devices(cmd.Context())
		return c.printAnswer(all, err, func(s *console.Screen) {
			s.PrintTable("DEVICE\tSLOTS\tBUSY\tQUEUED\t", len(all), func(i int) []any {
				note := all[i].Problem
				if all[i].PausedSince != nil {
					note = strings.TrimSpace("paused by " + all[i].PausedBy + ". " + all[i].PauseReason)
				}
				return []any{all[i].Device, all[i].Slots, all[i].Busy, all[i].Queued, note}
			})
		})
	}}
}

func budgetCommand(c *connection) *cobra.Command {
	return &cobra.Command{Use: "budget", Short: "print how many GPU-seconds you have left today", Args: console.ExactArgs(), RunE: func(cmd *cobra.Command, _ []string) error {
		site, err := c.site()
		if err != nil {
			return err
		}
		me, err := site.CurrentUser(cmd.Context())
		if err != nil || me.TeamBudget == nil {
			var own *client.Budget
			if err == nil {
				own = me.Budget
			}
			return c.printAnswer(own, err, func(s *console.Screen) { printBudget(s, own) })
		}
		both := struct {
			*client.Budget
			Team *client.TeamBudget `json:"team_budget"`
		}{me.Budget, me.TeamBudget}
		return c.printAnswer(both, nil, func(s *console.Screen) {
			printBudget(s, both.Budget)
			s.PrintLine("of team %s (%d members) %.0f of %d GPU-seconds are left", both.Team.Team, both.Team.Members, both.Team.LeftSeconds, both.Team.Seconds)
		})
	}}
}

// printBudget prints what is left of the budget of the caller.
func printBudget(s *console.Screen, b *client.Budget) {
	if b == nil {
		s.PrintLine("no limit")
		return
	}
	s.PrintLine("%.0f of %d GPU-seconds are left; renewed at %s", b.LeftSeconds, b.Seconds, b.RenewsAt.UTC().Format("2006-01-02 15:04 UTC"))
}

func runsCommand(c *connection) *cobra.Command {
	var task string
	var before int64
	var limit int
	cmd := &cobra.Command{Use: "runs", Short: "list your submissions and their runs, newest first", Args: console.ExactArgs(), RunE: func(cmd *cobra.Command, _ []string) error {
		site, err := c.site()
		if err != nil {
			return err
		}
		list, err := site.OwnSubmissions(cmd.Context(), task, before, limit)
		return c.printAnswer(list, err, func(s *console.Screen) {
			rows := submissionRows(list.Submissions)
			s.PrintTable("SUBMISSION\tTASK\tMODE\tRUN\tDEVICE\tSTATE\tSCORE", len(rows), func(i int) []any { return rows[i] })
			if list.NextBefore > 0 {
				s.PrintLine("older ones: --before %d", list.NextBefore)
			}
		})
	}}
	cmd.Flags().StringVar(&task, "task", "", "only submissions to this task")
	cmd.Flags().Int64Var(&before, "before", 0, "only submissions below this number")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many submissions, up to 50")
	return cmd
}

func submissionRows(list []client.Submission) (rows [][]any) {
	for _, sub := range list {
		for _, run := range sub.Runs {
			score := ""
			if run.ScoreNS != nil {
				score = console.Nanoseconds(*run.ScoreNS)
			}
			rows = append(rows, []any{sub.ID, sub.Task, sub.Mode, run.ID, run.Device, run.State, score})
		}
	}
	return rows
}

func showCommand(c *connection) *cobra.Command {
	return c.newSubmissionCommand("show ID", "print a submission and its runs", (*client.Client).Submission)
}

func cancelCommand(c *connection) *cobra.Command {
	return c.newSubmissionCommand("cancel ID", "cancel one of your submissions", (*client.Client).Cancel)
}

// newSubmissionCommand returns a command for one submission, which calls ask and prints its response.
func (c *connection) newSubmissionCommand(
	use, short string, ask func(*client.Client, context.Context, int64) (*client.Submission, error),
) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: console.ExactArgs("ID"), RunE: func(cmd *cobra.Command, args []string) error {
		site, id, err := c.siteOfSubmission(args[0])
		if err != nil {
			return err
		}
		sub, err := ask(site, cmd.Context(), id)
		return c.printAnswer(sub, err, func(s *console.Screen) {
			s.PrintLine("submission %d  %s\n%s (version %d), %s, by %s", sub.ID, sub.URL, sub.Task, sub.Version, sub.Mode, sub.User.Name)
			mine := isCallersSubmission(cmd.Context(), site, sub)
			for _, run := range sub.Runs {
				printRun(s, run)
				printOutcome(s, sub, run, mine)
			}
		})
	}}
}

func sourceCommand(c *connection) *cobra.Command {
	return &cobra.Command{Use: "source ID", Short: "print a submission's source", Args: console.ExactArgs("ID"), RunE: func(cmd *cobra.Command, args []string) error {
		site, id, err := c.siteOfSubmission(args[0])
		if err != nil {
			return err
		}
		file, err := site.SubmissionSource(cmd.Context(), id)
		return c.printAnswer(file, err, func(s *console.Screen) {
			if len(file.Files) > 0 {
				s.PrintLine("==> %s <==", file.Name)
			}
			printSource(s, file.Text)
			for _, name := range slices.Sorted(maps.Keys(file.Files)) {
				s.PrintLine("\n==> %s <==", name)
				printSource(s, file.Files[name])
			}
		})
	}}
}

// printSource prints a text, on a terminal without control characters.
func printSource(s *console.Screen, text string) {
	if s.IsTerminal {
		text = console.RemoveControlCharacters(text)
	}
	fmt.Fprint(s.Out, text)
}
