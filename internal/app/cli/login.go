package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

func loginCommand(c *connection) *cobra.Command {
	var name string
	var popcorn bool
	cmd := &cobra.Command{
		Use: "login [SITE]", Short: "sign in to a site through a browser, and save the token",
		Long: "Sign in to a site: open the printed address in a browser, check the code, and approve it. The token is saved in the file\nthat WARPBOARD_SITES names, or else in ~/.config/warpboard/sites.toml, which only you can read.",
		Args: console.BetweenArgs(0, "SITE"), Annotations: map[string]string{noJSONFlagAnnotation: "1"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.login(cmd.Context(), strings.Join(args, ""), name); err != nil || !popcorn {
				return err
			}
			return c.configurePopcorn()
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the site in the config file, for --server NAME; default: its host and path")
	cmd.Flags().BoolVar(&popcorn, "popcorn", false, "also set up popcorn-cli: write the token to ~/.popcorn.yaml, unless the file has another token, and print the remaining steps")
	return cmd
}

// login requests a token from a site; a person approves it in a browser.
func (c *connection) login(ctx context.Context, server, name string) error {
	server = strings.TrimSuffix(cmp.Or(server, c.server, c.env.Getenv("WARPBOARD_SERVER"), defaultServer), "/")
	// http is allowed for sites on this machine or in a private network, where the token is sent unencrypted.
	if !isAddress(server) {
		return console.NewUsageError("%q is not an address like https://boards.example.org", removeURLUser(server))
	}
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	c.chosenSite.Server = server
	cfg, err := console.ReadSites(c.env.Getenv)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	site := client.New(server, "")
	// As in the OAuth device flow, no secret passes through the browser. The person compares the code, because a link
	// alone could come from another person.
	login, err := site.BeginLogin(ctx, cmp.Or(host, "a machine without a name"))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.env.Stdout, "Open %s\nand check that it shows %s.\n", console.RemoveControlCharacters(login.URL), console.RemoveControlCharacters(login.Code))
	answer, err := waitForLogin(ctx, site, login)
	if err != nil {
		return err
	}
	if cfg.Sites == nil {
		cfg.Sites = map[string]console.SignedInSite{}
	}
	name = cmp.Or(name, u.Host+u.Path)
	cfg.Sites[name], cfg.DefaultSite = console.SignedInSite{Server: server, Token: answer.Token}, name
	c.chosenSite = cfg.Sites[name]
	path, err := cfg.Save(c.env.Getenv)
	if err == nil {
		fmt.Fprintf(c.env.Stdout, "Signed in as %s. The token is in %s and expires within a year.\n", console.RemoveControlCharacters(answer.User.Name), path)
	}
	return err
}

func waitForLogin(ctx context.Context, site *client.Client, login *client.Login) (*client.LoginAnswer, error) {
	ctx, cancel := context.WithDeadline(ctx, login.ExpiresAt)
	defer cancel()
	tick := time.NewTicker(time.Duration(max(login.PollSeconds, 1)) * time.Second)
	defer tick.Stop()
	for {
		answer, err := site.EndLogin(ctx, login.Secret)
		if err == nil && answer.Token != "" && answer.User != nil {
			return answer, nil
		}
		// After a restart of the site the request is repeated; a refused or expired code ends the login.
		if err != nil && console.ExitCode(err) != console.ExitUnreachable {
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("no one has approved the code: %w", ctx.Err())
		}
	}
}

func logoutCommand(c *connection) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "logout [NAME]", ValidArgsFunction: c.completeSite, Short: "revoke the token of a site, and delete it here", Example: "  warpboard logout\n  warpboard logout lab",
		Args: console.BetweenArgs(0, "NAME"), Annotations: map[string]string{noJSONFlagAnnotation: "1"},
		RunE: func(cmd *cobra.Command, args []string) error { return c.logout(cmd, strings.Join(args, ""), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "delete the token here without revoking it, because it is also used elsewhere")
	return cmd
}
