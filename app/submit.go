package app

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/web/client"
)

// siteOptions say which site a command talks to, and as whom.
type siteOptions struct{ server, token string }

const defaultServer = "http://127.0.0.1:3000"

// flags declares the flags. The environment is no default of theirs: help prints defaults, and a token is secret.
func (o *siteOptions) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.server, "server", "", "address of the site; default: WARPBOARD_SERVER, else "+defaultServer)
	fs.StringVar(&o.token, "token", "", "personal token, made on the profile page; default: WARPBOARD_TOKEN, which other users of this machine cannot see")
}

// client is the way to the site; what no flag says, the environment does.
func (o *siteOptions) client(fs *flag.FlagSet, env Environment) *client.Client {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["server"] {
		o.server = cmp.Or(env.Getenv("WARPBOARD_SERVER"), defaultServer)
	}
	if !given["token"] {
		o.token = env.Getenv("WARPBOARD_TOKEN")
	}
	return client.New(o.server, o.token)
}

// submitOptions are the flags of `warpboard submit`.
type submitOptions struct {
	siteOptions
	task, mode string
	devices    list
	watch      bool
}

func (o *submitOptions) flags(env Environment) *flag.FlagSet {
	fs := flag.NewFlagSet("submit", flag.ContinueOnError)
	fs.SetOutput(env.Stderr)
	o.siteOptions.flags(fs)
	fs.StringVar(&o.task, "task", "", "name of the task; a #!POPCORN leaderboard line in the file does as well")
	fs.Var(&o.devices, "device", "devices, separated by commas; a #!POPCORN gpu line in the file does as well")
	fs.StringVar(&o.mode, "mode", string(job.ModeTest), "test, benchmark, ranked or profile")
	fs.BoolVar(&o.watch, "watch", false, "print what happens until every run has ended; exit 1 if one failed")
	fs.Usage = func() {
		fmt.Fprint(env.Stderr, "usage: warpboard submit FILE [flags]\n\n")
		fs.PrintDefaults()
	}
	return fs
}

// submit sends one file to a site.
func submit(ctx context.Context, env Environment, args []string) error {
	var o submitOptions
	fs := o.flags(env)
	file, err := parseWithFile(fs, args)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the submission: %w", err)
	}
	site := o.client(fs, env)
	sub, err := site.Submit(ctx, client.NewSubmission{
		Task: o.task, Devices: o.devices, Mode: job.Mode(o.mode), FileName: filepath.Base(file), Source: string(source),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "submission %d  %s\n", sub.ID, sub.URL)
	if !o.watch {
		return nil
	}
	return newWatcher(env.Stdout, site, sub.ID).run(ctx)
}

// parseWithFile parses flags around one file argument, which may stand before or after them.
func parseWithFile(fs *flag.FlagSet, args []string) (string, error) {
	if err := fs.Parse(args); err != nil {
		return "", err
	}
	if fs.NArg() == 0 {
		fs.Usage()
		return "", errors.New("the file or folder is missing")
	}
	file := fs.Arg(0)
	if err := fs.Parse(fs.Args()[1:]); err != nil {
		return "", err
	}
	if fs.NArg() > 0 {
		return "", fmt.Errorf("only one file or folder can be submitted; remove %q", fs.Arg(0))
	}
	return file, nil
}

func printEvent(out io.Writer, e client.Event) {
	switch d := e.Detail; {
	case d == nil:
		fmt.Fprintf(out, "%-6s %s\n", e.Device, e.State)
	case d.Type == job.EventStage:
		fmt.Fprintf(out, "%-6s %s begins\n", e.Device, d.Stage)
	case d.Type == job.EventCase && d.Case != nil:
		fmt.Fprintf(out, "%-6s %s %s  %s %s %s\n", e.Device, d.Stage, d.Case.Spec, d.Case.Status, timeOf(d.Case), d.Case.Message)
	case d.Type == job.EventLog:
		for line := range strings.Lines(d.Text) {
			fmt.Fprintf(out, "%-6s | %s\n", e.Device, strings.TrimRight(line, "\n"))
		}
	}
}

func timeOf(c *job.CaseResult) string {
	if c.Runs == 0 {
		return ""
	}
	return fmt.Sprintf("%v ± %v", ns(c.Time()), ns(c.Err))
}

func printRun(out io.Writer, run client.Run) {
	fmt.Fprintf(out, "%-6s %s", run.Device, run.State)
	if run.ScoreNS != nil {
		fmt.Fprintf(out, "  score %v", ns(*run.ScoreNS))
	}
	if run.Failure != nil {
		fmt.Fprintf(out, "  %s", run.Failure.Reason)
	}
	if run.Profile != "" {
		fmt.Fprintf(out, "  profile %s", run.Profile)
	}
	fmt.Fprintln(out)
}

// ns shows nanoseconds as a duration, to the hundredth of a microsecond.
func ns(v float64) time.Duration { return time.Duration(v).Round(10 * time.Nanosecond) }
