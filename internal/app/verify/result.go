package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
	"warpboard/internal/app/cli/sites"
	"warpboard/internal/statement"
)

const verifyResultHelp = `Checks a site's statement about a run: the signature, and whether the score follows from the samples. Then measures the
source on this machine's device of the same model, and prints whether the two intervals agree.

URL is the address of the statement (SITE/api/v1/runs/N/statement) or of the submission's page. If you may read the source
and the task, they come from the site. Otherwise use --source and --task.

Exit codes:
  0  signature and score are correct, and the two scores agree
  1  any other error
  2  the signature or the score is wrong
  3  the two scores do not agree
  4  nothing could be measured on this machine: no such device, or no source`

// What the exit codes of verify-result mean; 1 is any other error.
const (
	// Scripts rely on these: they are part of the interface, and only get additions.
	exitForged    = 2
	exitDisagrees = 3
	exitUnrun     = 4
)

// verifyResultOptions are the flags of `warpboard verify-result`.
type verifyResultOptions struct {
	verifyOptions
	key, site, token, task string
	source                 []string
	signatureOnly          bool
}

// Result is `warpboard verify-result`: it checks a statement, and measures its source again.
func Result(env console.Environment) *cobra.Command {
	var o verifyResultOptions
	cmd := command("verify-result FILE|URL", "check a site's statement about a run, and measure the run again on this machine", verifyResultHelp, func(cmd *cobra.Command, from string) error {
		return o.run(cmd.Context(), env, from)
	})
	fs := cmd.Flags()
	o.machineFlags(fs, env)
	fs.StringVar(&o.key, "key", "", "file with the site's keys, as at /.well-known/warpboard-key.json; default: ask the site")
	fs.StringVar(&o.site, "site", "", "address of the site whose keys to use; default: the site of URL, or the one in the statement")
	fs.StringVar(&o.token, "token", "", "token for reading a source or a task that is not public; default: $WARPBOARD_TOKEN, else that of warpboard login")
	fs.StringArrayVar(&o.source, "source", nil, "submitted file; repeat for several files, with the main one first; default: ask the site")
	fs.StringVar(&o.task, "task", "", "folder or zip of the task; default: ask the site")
	fs.BoolVar(&o.signatureOnly, "signature-only", false, "check only the statement, and measure nothing")
	return cmd
}

func (o *verifyResultOptions) run(ctx context.Context, env console.Environment, from string) error {
	if err := o.validate(); err != nil {
		return err
	}
	if err := o.signIn(env, from); err != nil {
		return err
	}
	s, err := o.checkedStatement(ctx, env, from)
	if err != nil || o.signatureOnly {
		return err
	}
	again, err := o.repeat(ctx, env, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "stated:   %s\nrepeated: %s\n", scoreLine(s.Result.Score), scoreLine(again))
	if !s.Result.Score.Agrees(again) {
		return console.ExitWith(exitDisagrees, "the scores do not agree: %s there, %s here. Compare driver, compiler and clocks before you accuse anyone",
			ns(s.Result.Score.NS), ns(again.NS))
	}
	fmt.Fprintln(env.Stdout, "The scores agree.")
	return nil
}

// signIn finds the token for the site that the command line names: of the flag, the environment, or warpboard login. One that only
// a statement names gets none.
func (o *verifyResultOptions) signIn(env console.Environment, from string) error {
	if isURL(from) {
		o.site = cmp.Or(o.site, siteOf(from))
	}
	if o.token = cmp.Or(o.token, env.Getenv("WARPBOARD_TOKEN")); o.token != "" || o.site == "" {
		return nil
	}
	kept, err := sites.KeptToken(env.Getenv, o.site)
	o.token = kept
	return err
}

// checkedStatement reads a statement and prints what holds of it.
func (o *verifyResultOptions) checkedStatement(ctx context.Context, env console.Environment, from string) (s statement.Statement, err error) {
	envelope, err := o.envelope(ctx, from)
	if err != nil {
		return s, err
	}
	keys, whose, err := o.keys(ctx, envelope)
	if err != nil {
		return s, err
	}
	// Before this line nothing of the statement is trusted, except for the name of the site if no flag gives one (keys).
	s, _, key, err := keys.Verify(ctx, envelope)
	if err != nil {
		return s, console.ExitWith(exitForged, "%s: %w", from, err)
	}
	r := s.Result
	o.site = cmp.Or(o.site, r.Site)
	fmt.Fprintf(env.Stdout, "The signature is valid: key %.16s of %s.\n", key, whose)
	// A site can sign a false score. This shows that score and samples belong together, and not that the samples were
	// measured.
	if err := r.Check(); err != nil {
		return s, console.ExitWith(exitForged, "%s: the score does not follow from the samples: %w", from, err)
	}
	fmt.Fprintf(env.Stdout, "run %d of %s: %s version %d on %s (%s), statement %d of its chain\n%s\n",
		r.Run, r.Site, r.Task.Slug, r.Task.Version, r.Machine.Device, r.Machine.Name, r.Chain.Number, scoreLine(r.Score))
	return s, nil
}

func scoreLine(s statement.Score) string {
	line := ns(s.NS).String()
	if s.Low != nil && s.High != nil {
		line += fmt.Sprintf(" (95 %%: %v to %v, %d processes)", ns(*s.Low), ns(*s.High), s.Processes)
	}
	if s.Noisy {
		line += ", noisy"
	}
	return line
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

func (o *verifyResultOptions) envelope(ctx context.Context, from string) (*statement.Envelope, error) {
	read := os.ReadFile
	if isURL(from) {
		address, err := o.statementAt(ctx, from)
		if err != nil {
			return nil, err
		}
		from, read = address, func(url string) ([]byte, error) { return o.get(ctx, url) }
	}
	text, err := read(from)
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%s: %w. Name a file, or an address such as SITE/submissions/16", from, file.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the statement: %w", err)
	}
	envelope, err := statement.ReadEnvelope(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w. A statement is at SITE/api/v1/runs/RUN/statement; the address of a submission's page leads to it, too", from, err)
	}
	return envelope, nil
}

// pageOf finds the submission or run in the address of a page.
var pageOf = regexp.MustCompile(`^(https?://.*)/(submissions|runs)/([1-9][0-9]{0,17})(?:[/?#].*)?$`)

// statementAt is the address of a statement for that of a page of its run; any other address stays.
func (o *verifyResultOptions) statementAt(ctx context.Context, address string) (string, error) {
	page := pageOf.FindStringSubmatch(address)
	if page == nil || strings.Contains(address, "/api/v1/") {
		return address, nil
	}
	of := func(run string) string { return page[1] + "/api/v1/runs/" + run + "/statement" }
	if page[2] == "runs" {
		return of(page[3]), nil
	}
	id, _ := strconv.ParseInt(page[3], 10, 64)
	token := ""
	if page[1] == strings.TrimRight(o.site, "/") {
		token = o.token
	}
	sub, err := client.New(page[1], token).Get(ctx, id)
	if err != nil {
		return "", refusal(address, err)
	}
	if len(sub.Runs) == 1 {
		return of(strconv.FormatInt(sub.Runs[0].ID, 10)), nil
	}
	var all []string
	for _, run := range sub.Runs {
		all = append(all, of(strconv.FormatInt(run.ID, 10))+" ("+run.Device+")")
	}
	return "", fmt.Errorf("submission %d has %d runs, each with a statement of its own: name one of %s", id, len(sub.Runs), strings.Join(all, ", "))
}

// keys are the keys that may have signed, and their owner. A statement from a file names its own site; --site or --key
// override that.
func (o *verifyResultOptions) keys(ctx context.Context, e *statement.Envelope) (keys statement.Keys, whose string, err error) {
	if o.key != "" {
		text, err := os.ReadFile(o.key)
		if err == nil {
			keys, err = statement.ReadKeys(text)
		}
		return keys, o.key, err
	}
	if o.site == "" {
		payload, err := e.DecodeB64Payload()
		if err != nil {
			return keys, "", err
		}
		unproven, err := statement.Read(payload)
		if err != nil {
			return keys, "", err
		}
		// The statement then proves only that this site made it, which the output says ("of SITE").
		o.site, o.token = unproven.Result.Site, "" // never send a secret to an address from a stranger's file
	}
	if !isURL(o.site) {
		return keys, "", errors.New("the statement does not name its site: name it with --site, or its keys with --key")
	}
	text, err := o.get(ctx, strings.TrimRight(o.site, "/")+statement.KeysPath)
	if err == nil {
		keys, err = statement.ReadKeys(text)
	}
	return keys, o.site, err
}
