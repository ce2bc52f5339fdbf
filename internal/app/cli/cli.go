package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

const defaultServer = "http://127.0.0.1:3000"

// Commands returns the commands that call a site.
func Commands(env console.Environment) []*cobra.Command {
	var all []*cobra.Command
	for _, build := range []func(*connection) *cobra.Command{
		loginCommand, logoutCommand, authCommand, joinCommand, leaveCommand, tasksCommand, submitCommand, watchCommand, boardCommand, runsCommand, budgetCommand, showCommand, sourceCommand,
		cancelCommand, profileCommand, compareCommand, evaluateCommand, shareCommand, webhookCommand, inboxCommand, devicesCommand, taskCommand, ciCommand,
	} {
		// One connection per command, because flags write to it.
		c := &connection{env: env}
		all = append(all, c.newCommand(build))
	}
	return all
}

// connection has the flags with which a command connects to a site, and the site.
type connection struct {
	env              console.Environment
	server, token    string
	hasExplicitToken bool
	json             bool
	jq               string
	jqFilter         *console.JQFilter
	chosenSite       console.SignedInSite // set by the method site
	client           *client.Client       // client of chosenSite
}

// newCommand adds the flags that every command for a site has. Environment variables are not the default values of
// flags, because the help shows default values and a token is secret.
func (c *connection) newCommand(build func(*connection) *cobra.Command) *cobra.Command {
	cmd := build(c)
	f := cmd.PersistentFlags()
	f.StringVar(&c.server, "server", "", "address of the site, or its name in the config file; default: WARPBOARD_SERVER, else the site you last signed in to, else "+defaultServer)
	f.StringVar(&c.token, "token", "", "personal token; default: WARPBOARD_TOKEN, else the token from warpboard login. Other users of this machine can see flags")
	if cmd.Annotations[noJSONFlagAnnotation] == "" {
		f.BoolVar(&c.json, "json", false, "print the API's answer and errors as JSON")
		f.StringVar(&c.jq, "jq", "", "filter the API's answer with a jq expression, such as .runs[0].score_ns")
	}
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if c.hasExplicitToken = cmd.Flags().Changed("token"); c.jq != "" {
			c.json = true
			c.jqFilter, err = console.NewJQFilter(c.jq)
		}
		return err
	}
	c.rewriteErrors(cmd)
	c.addCompletion(cmd)
	withExamples(cmd, cmd.Name())
	return cmd
}

// rewriteErrors replaces the terms of the API by those of the command line in the errors of a command and its
// subcommands.
func (c *connection) rewriteErrors(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			c.warnIfOlderThanSite(err)
			return console.ExplainError(err, removeURLUser(c.chosenSite.Server), c.chosenSite.Token != "")
		}
	}
	for _, below := range cmd.Commands() {
		c.rewriteErrors(below)
	}
}

// noJSONFlagAnnotation marks a command that prints no response of the API, so that it has no flag --json.
const noJSONFlagAnnotation = "no-json"

// site returns a client of the site that is chosen by, in this order: flag, environment, config file. The token in the
// file is sent only to the site in the file.
func (c *connection) site() (*client.Client, error) {
	cfg, err := console.ReadSites(c.env.Getenv)
	if err != nil {
		return nil, err
	}
	// A name in the config file takes precedence over an address. Only --server may be a name; the variable is always
	// an address.
	known, ok := cfg.Sites[c.server]
	switch asked := cmp.Or(c.server, c.env.Getenv("WARPBOARD_SERVER")); {
	case ok:
	case asked != "":
		known = cfg.SiteAt(asked)
	case cfg.DefaultSite != "":
		known = cfg.Sites[cfg.DefaultSite]
	default:
		known = cfg.SiteAt(defaultServer)
	}
	// A token from the environment is sent to every site, as its user intends. With --token "" none is sent.
	token := cmp.Or(c.env.Getenv("WARPBOARD_TOKEN"), known.Token)
	if c.hasExplicitToken {
		token = c.token
	}
	if token = strings.TrimSpace(token); strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, console.NewUsageError("the token contains a space, a line break, or another invalid character: copy it again")
	}
	c.chosenSite.Server, c.chosenSite.Token = strings.TrimSuffix(known.Server, "/"), token
	if !isAddress(c.chosenSite.Server) {
		return nil, console.NewUsageError("%q is neither an address like https://boards.example.org nor the name of a site you signed in to", removeURLUser(c.chosenSite.Server))
	}
	c.client = client.New(c.chosenSite.Server, token)
	c.client.SetVersion(c.env.Version)
	return c.client, nil
}

// warnIfOlderThanSite warns if this program is older than the site, and a person uses a terminal or the error may be a
// consequence of that.
func (c *connection) warnIfOlderThanSite(err error) {
	if c.client == nil || err == nil && !console.IsTerminal(c.env.Stderr) {
		return
	}
	if own, theirs := c.env.Version, c.client.SiteVersion(); isOlderVersion(own, theirs) {
		fmt.Fprintf(c.env.Stderr, "warpboard: this command (%s) is older than the site (%s): update it, as %s/docs/install says\n", own, console.RemoveControlCharacters(theirs), removeURLUser(c.chosenSite.Server))
	}
}

// isOlderVersion compares two versions of the program without their suffixes. An invalid version is not older.
func isOlderVersion(own, theirs string) bool {
	own, _, _ = strings.Cut(own, " ")
	theirs, _, _ = strings.Cut(theirs, " ")
	return semver.IsValid(own) && semver.IsValid(theirs) && semver.Compare(own, theirs) < 0
}

// removeURLUser removes the user name and the password from an address, because logs store errors.
func removeURLUser(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		scheme, rest = "", address
	}
	rest = rest[strings.LastIndex(rest, "@")+1:]
	if !found {
		return rest
	}
	return scheme + "://" + rest
}

// isAddress reports whether a text is the address of a site.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// newScreen returns the command's output for people.
func (c *connection) newScreen() *console.Screen { return console.NewScreen(c.env) }
