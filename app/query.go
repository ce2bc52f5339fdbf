package app

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"warpboard/views/format"
	"warpboard/web/client"
)

// query is a command that asks a site one thing and prints the answer: as a table, or with --json as the API has it.
type query struct {
	name, about string
	args        []string // names of its arguments
	ask         func(ctx context.Context, site *client.Client, args []string) (answer any, print func(io.Writer), err error)
}

func queries() []query {
	return []query{
		{"tasks", "list a site's tasks", nil, askTasks},
		{"board", "print the board of a task on a device", []string{"TASK", "DEVICE"}, askBoard},
		{"devices", "list a site's devices and how busy they are", nil, askDevices},
		{"show", "print a submission and its runs", []string{"ID"}, askSubmission},
		{"cancel", "cancel a submission of yours", []string{"ID"}, cancelSubmission},
	}
}

// command makes a query one word after `warpboard`.
func (q query) command() command { return command{q.name, q.about, q.run} }

func (q query) run(ctx context.Context, env Environment, args []string) error {
	var site siteOptions
	var asJSON bool
	fs := flag.NewFlagSet(q.name, flag.ContinueOnError)
	fs.SetOutput(env.Stderr)
	site.flags(fs)
	fs.BoolVar(&asJSON, "json", false, "print the API's answer")
	fs.Usage = func() {
		fmt.Fprintf(env.Stderr, "usage: warpboard %s\n\n", strings.Join(append([]string{q.name}, append(q.args, "[flags]")...), " "))
		fs.PrintDefaults()
	}
	given, err := parseWithArgs(fs, args)
	if err != nil {
		return err
	}
	if len(given) != len(q.args) {
		fs.Usage()
		return fmt.Errorf("%s takes %d arguments (%s), not %d", q.name, len(q.args), strings.Join(q.args, ", "), len(given))
	}
	answer, print, err := q.ask(ctx, site.client(fs, env), given)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Stdout, answer)
	}
	print(env.Stdout)
	return nil
}

// parseWithArgs parses flags that may stand before, between and after arguments, and returns these.
func parseWithArgs(fs *flag.FlagSet, args []string) (given []string, err error) {
	for {
		if err := fs.Parse(args); err != nil || fs.NArg() == 0 {
			return given, err
		}
		given, args = append(given, fs.Arg(0)), fs.Args()[1:]
	}
}

func printJSON(out io.Writer, answer any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(answer)
}

func askTasks(ctx context.Context, site *client.Client, _ []string) (any, func(io.Writer), error) {
	all, err := site.Tasks(ctx)
	return all, func(out io.Writer) {
		table(out, "TASK\tLANGUAGE\tDEVICES\tTITLE", len(all), func(i int) []any {
			return []any{all[i].Slug, all[i].Lang, strings.Join(all[i].Devices, ","), all[i].Title}
		})
	}, err
}

func askBoard(ctx context.Context, site *client.Client, args []string) (any, func(io.Writer), error) {
	board, err := site.Board(ctx, args[0], args[1], 1)
	return board, func(out io.Writer) {
		table(out, "RANK\tTIME\t±\tPERSON\tSUBMISSION", len(board.Entries), func(i int) []any {
			e := board.Entries[i]
			return []any{format.Place(e.Rank, e.Tied), ns(e.ScoreNS), plusMinus(e), e.User.Name, e.SubmissionID}
		})
		if more := board.Total - len(board.Entries); more > 0 {
			fmt.Fprintf(out, "and %d more\n", more)
		}
	}, err
}

// plusMinus is half of a score's interval, or the standard error of its repeats; a tilde says that it is noisy.
func plusMinus(e client.Entry) string {
	half := e.ErrNS
	if e.IntervalLow != nil && e.IntervalHigh != nil {
		half = (*e.IntervalHigh - *e.IntervalLow) / 2
	}
	if e.Noisy {
		return "~" + ns(half).String()
	}
	return ns(half).String()
}

func askDevices(ctx context.Context, site *client.Client, _ []string) (any, func(io.Writer), error) {
	all, err := site.Devices(ctx)
	return all, func(out io.Writer) {
		table(out, "DEVICE\tSLOTS\tBUSY\tQUEUED\t", len(all), func(i int) []any {
			note := ""
			if all[i].PausedSince != nil {
				note = "paused by " + all[i].PausedBy
			}
			return []any{all[i].Device, all[i].Slots, all[i].Busy, all[i].Queued, note}
		})
	}, err
}

func askSubmission(ctx context.Context, site *client.Client, args []string) (any, func(io.Writer), error) {
	return submissionBy(ctx, args[0], site.Get)
}

func cancelSubmission(ctx context.Context, site *client.Client, args []string) (any, func(io.Writer), error) {
	return submissionBy(ctx, args[0], site.Cancel)
}

func submissionBy(ctx context.Context, arg string, ask func(context.Context, int64) (*client.Submission, error)) (any, func(io.Writer), error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		return nil, nil, fmt.Errorf("%q is not a submission's number", arg)
	}
	sub, err := ask(ctx, id)
	return sub, func(out io.Writer) {
		fmt.Fprintf(out, "submission %d  %s\n%s (version %d), %s, by %s\n", sub.ID, sub.URL, sub.Task, sub.Version, sub.Mode, sub.User.Name)
		for _, run := range sub.Runs {
			printRun(out, run)
		}
	}, err
}

// table prints rows under a head of columns.
func table(out io.Writer, head string, rows int, row func(int) []any) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for i := range rows {
		cells := make([]string, 0, 8)
		for _, cell := range row(i) {
			cells = append(cells, fmt.Sprint(cell))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
}
