package cli

import (
	"cmp"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/web/client"
)

// Environment is what a command may use of the outside world.
type Environment struct {
	Getenv         func(string) string
	Stdout, Stderr io.Writer
}

const defaultServer = "http://127.0.0.1:3000"

// Commands are the commands that talk to a site.
func Commands(env Environment) []*cobra.Command {
	var all []*cobra.Command
	for _, build := range []func(*connection) *cobra.Command{
		loginCommand, logoutCommand, tasksCommand, submitCommand, watchCommand, boardCommand, runsCommand, budgetCommand, showCommand, sourceCommand,
		cancelCommand, profileCommand, compareCommand, evaluateCommand, devicesCommand, taskCommand, ciCommand,
	} {
		// One for each command, since flags write into it.
		c := &connection{env: env}
		all = append(all, c.command(build))
	}
	return all
}

// connection is how a command finds its site, and as whom it asks.
type connection struct {
	env           Environment
	server, token string
	tokenGiven    bool
	json          bool
}

// command adds what every command that talks to a site takes. The environment is no default of the flags: help prints
// defaults, and a token is secret.
func (c *connection) command(build func(*connection) *cobra.Command) *cobra.Command {
	cmd := build(c)
	f := cmd.PersistentFlags()
	f.StringVar(&c.server, "server", "", "address of the site, or its name in the config file; default: WARPBOARD_SERVER, else the last one of warpboard login, else "+defaultServer)
	f.StringVar(&c.token, "token", "", "personal token; default: WARPBOARD_TOKEN, else that of warpboard login. Others on this machine can see flags")
	if cmd.Annotations[noJSON] == "" {
		f.BoolVar(&c.json, "json", false, "print the API's answer")
	}
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		c.tokenGiven = cmd.Flags().Changed("token")
		return nil
	}
	return cmd
}

// noJSON marks a command without an answer of the API.
const noJSON = "no-json"

// site is the way to the site. A flag comes before the environment, and that before the config file; the file's token goes
// to the file's site only.
func (c *connection) site() (*client.Client, error) {
	cfg, err := readConfig(c.env)
	if err != nil {
		return nil, err
	}
	// A name of the config file comes before an address; only --server may give one, since the variable is an address
	// alone.
	known, ok := cfg.Sites[c.server]
	switch asked := cmp.Or(c.server, c.env.Getenv("WARPBOARD_SERVER")); {
	case ok:
	case asked != "":
		known = cfg.at(asked)
	case cfg.Default != "":
		known = cfg.Sites[cfg.Default]
	default:
		known = cfg.at(defaultServer)
	}
	// A token of the environment goes to whatever site is asked: whoever sets it means that. --token "" asks as nobody.
	token := cmp.Or(c.env.Getenv("WARPBOARD_TOKEN"), known.Token)
	if c.tokenGiven {
		token = c.token
	}
	return client.New(strings.TrimSuffix(known.Server, "/"), token), nil
}

// screen is where the command prints.
func (c *connection) screen() *screen { return newScreen(c.env) }

// isTerminal reports whether something is written to a person.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && termIs(f)
}
