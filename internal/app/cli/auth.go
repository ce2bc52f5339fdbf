package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

func authCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{Use: "auth", Short: "show where you are signed in; list and revoke your tokens"}
	status := &cobra.Command{Use: "status", Short: "show who you are on each site you signed in to, or on the site of --server", Args: console.ExactArgs(),
		Example: "  warpboard auth status\n  warpboard auth status --server lab --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.authStatus(cmd) }}
	cmd.AddCommand(status, c.tokensCommand(), c.revokeCommand())
	return console.CommandGroup(cmd)
}

// tokenStatus is the state of the token of one site.
type tokenStatus struct {
	Name     string       `json:"name,omitempty"` // name in the config file
	Server   string       `json:"server"`
	Default  bool         `json:"default,omitempty"`
	HasToken bool         `json:"token"` // true if a token is stored
	User     *client.User `json:"user,omitempty"`
	Error    string       `json:"error,omitempty"`
}

// authStatus checks the token of each site. It returns an error if the site that other commands would use does not
// accept its token.
func (c *connection) authStatus(cmd *cobra.Command) error {
	cfg, err := console.ReadSites(c.env.Getenv)
	if err != nil {
		return err
	}
	chosen, err := c.site()
	if err != nil {
		return err
	}
	asked, sites := c.sitesOf(cfg, chosen)
	var first error
	for i, site := range sites {
		user, err := site.CurrentUser(cmd.Context())
		if err != nil {
			err = console.ExplainError(err, removeURLUser(asked[i].Server), asked[i].HasToken)
			asked[i].Error = err.Error()
		}
		if asked[i].User = user; i == 0 {
			first = err
		}
	}
	shown := c.printAnswer(asked, nil, func(s *console.Screen) {
		for _, one := range asked {
			printSignedIn(s, one)
		}
	})
	var refused *client.Problem
	if errors.As(first, &refused) && refused.Status == http.StatusUnauthorized {
		first = console.ExitWith(console.ExitNotSignedIn, "%w", first)
	}
	return errors.Join(shown, first)
}

// sitesOf returns the chosen site and, without --server, the others of the config file.
func (c *connection) sitesOf(cfg console.Sites, chosen *client.Client) ([]tokenStatus, []*client.Client) {
	asked := []tokenStatus{{Server: c.chosenSite.Server, Default: true, HasToken: c.chosenSite.Token != ""}}
	sites := []*client.Client{chosen}
	for _, name := range slices.Sorted(maps.Keys(cfg.Sites)) {
		one := cfg.Sites[name]
		if strings.TrimSuffix(one.Server, "/") == c.chosenSite.Server {
			asked[0].Name = name
		} else if c.server == "" {
			asked, sites = append(asked, tokenStatus{Name: name, Server: one.Server, HasToken: one.Token != ""}), append(sites, client.New(one.Server, one.Token))
		}
	}
	return asked, sites
}

func printSignedIn(s *console.Screen, one tokenStatus) {
	head := removeURLUser(one.Server)
	if one.Name != "" && one.Name != strings.TrimPrefix(strings.TrimPrefix(head, "https://"), "http://") {
		head += " (" + one.Name + ")"
	}
	if one.Default {
		head += ", which is asked"
	}
	switch {
	case one.User != nil:
		s.PrintLine("%s\n  signed in as %s (%s)", head, one.User.Name, one.User.Role)
	default:
		s.PrintLine("%s\n  %s", head, one.Error)
	}
}

func shareCommand(c *connection) *cobra.Command {
	var off bool
	cmd := &cobra.Command{Use: "share EVALUATION", Short: "share an evaluation with anyone who has its address, or stop sharing it", Args: console.ExactArgs("EVALUATION"),
		Example: "  warpboard share f1284db1-d41d-40fd-84f5-c1c745241af4\n  warpboard share f1284db1-d41d-40fd-84f5-c1c745241af4 --off",
		RunE: func(cmd *cobra.Command, args []string) error {
			site, err := c.site()
			if err != nil {
				return err
			}
			e, err := site.ShareEvaluation(cmd.Context(), args[0], !off)
			return c.printAnswer(e, err, func(s *console.Screen) {
				state := "can be read by anyone with this address"
				if !e.Shared {
					state = "can be read only by you and the admins"
				}
				s.PrintLine("evaluation %s %s: %s", e.ID, state, evaluationPage(site, e.ID))
			})
		}}
	cmd.Flags().BoolVar(&off, "off", false, "stop sharing")
	return cmd
}

// revokeOwnToken revokes the token of the client.
func revokeOwnToken(ctx context.Context, site *client.Client) error {
	all, err := site.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, token := range all {
		if token.UsedByThisRequest {
			return site.RevokeToken(ctx, token.ID)
		}
	}
	return errors.New("the site does not say which one it is")
}

func (c *connection) tokensCommand() *cobra.Command {
	return &cobra.Command{Use: "tokens", Short: "list your valid tokens", Args: console.ExactArgs(), Example: "  warpboard auth tokens",
		RunE: func(cmd *cobra.Command, _ []string) error {
			site, err := c.site()
			if err != nil {
				return err
			}
			all, err := site.Tokens(cmd.Context())
			return c.printAnswer(all, err, func(s *console.Screen) {
				s.PrintTable("ID\tNAME\tBEGINS\tUSED\tEXPIRES\t", len(all), func(i int) []any {
					note := ""
					if all[i].UsedByThisRequest {
						note = "this one"
					}
					return []any{all[i].ID, all[i].Name, all[i].SecretPrefix, dateText(all[i].LastUsedAt), dateText(all[i].ExpiresAt), note}
				})
			})
		}}
}

func dateText(at *time.Time) string {
	if at == nil {
		return "never"
	}
	return at.UTC().Format(time.DateOnly)
}

func (c *connection) revokeCommand() *cobra.Command {
	return &cobra.Command{Use: "revoke ID", Short: "revoke one of your tokens", Args: console.ExactArgs("ID"), Example: "  warpboard auth revoke 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id <= 0 {
				return console.NewUsageError("%q is not the number of a token (warpboard auth tokens lists yours)", args[0])
			}
			site, err := c.site()
			if err == nil {
				err = site.RevokeToken(cmd.Context(), id)
			}
			return c.printAnswer(map[string]int64{"id": id}, err, func(s *console.Screen) { s.PrintLine("token %d is revoked", id) })
		}}
}

func (c *connection) logout(cmd *cobra.Command, name string, keep bool) error {
	cfg, err := console.ReadSites(c.env.Getenv)
	if err != nil {
		return err
	}
	if name == "" {
		name = cfg.DefaultSite
	}
	gone, ok := cfg.Sites[name]
	if !ok {
		return console.NewUsageError("there is no site %q in %s (warpboard auth status lists them)", name, console.SitesFile(c.env.Getenv))
	}
	// The token is removed locally even if the site does not respond. A message names tokens that could not be revoked.
	revoked := "kept at the site"
	if !keep {
		revoked = "revoked"
		if err := revokeOwnToken(cmd.Context(), client.New(gone.Server, gone.Token)); err != nil {
			revoked = fmt.Sprintf("not revoked (%v): revoke it on your page, %s/me", console.ExplainError(err, removeURLUser(gone.Server), true), removeURLUser(gone.Server))
		}
	}
	if delete(cfg.Sites, name); cfg.DefaultSite == name {
		cfg.DefaultSite = ""
	}
	if _, err := cfg.Save(c.env.Getenv); err != nil {
		return err
	}
	c.newScreen().PrintLine("The token of %s is gone from this machine, and %s.", name, revoked)
	return nil
}
