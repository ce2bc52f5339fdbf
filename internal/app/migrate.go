package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"warpboard/models"
	"warpboard/models/accounts"
)

// runMigrate opens the database, which updates its schema, and rebuilds the boards.
func runMigrate(ctx context.Context, env Environment, cfg *Config) error {
	// The data directory is not locked: the command may run at the same time as a site, whose writes wait while boards
	// are rebuilt.
	store, err := models.Open(ctx, models.Config{Dir: cfg.Data, DSN: cfg.DatabaseURL, Log: cfg.logger(env.Stderr)})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Boards.RebuildEntries(ctx); err != nil {
		return fmt.Errorf("rebuild boards: %w", err)
	}
	fmt.Fprintln(env.Stdout, "the database is up to date, and the boards are rebuilt from the stored runs")
	return nil
}

// tokenCommand returns the command that creates tokens, for operators and for scripts on the server.
func tokenCommand(env Environment) *cobra.Command {
	var t tokenOptions
	return settingsCommand(env, "token", "create a personal API token for a user", t.createToken, func(fs *pflag.FlagSet) {
		fs.StringVar(&t.user, "user", "", "user of the token; a missing user is created, and cannot sign in")
		fs.StringVar(&t.role, "role", "", "role of that user: user, creator, or admin; default: no change, or user for a new one")
		fs.StringVar(&t.label, "name", "made by the operator", "purpose of the token")
	})
}

// tokenOptions has the flags of the token command.
type tokenOptions struct{ user, role, label string }

// createToken creates a personal token and prints it.
func (t *tokenOptions) createToken(ctx context.Context, env Environment, cfg *Config) error {
	if t.user == "" {
		return errors.New("--user is needed: name the user of the token")
	}
	store, err := models.Open(ctx, models.Config{Dir: cfg.Data, DSN: cfg.DatabaseURL, Log: cfg.logger(env.Stderr)})
	if err != nil {
		return err
	}
	defer store.Close()
	// The provider "operator" is not available for signing in, so a token never belongs to the account of a person.
	owner, err := store.Accounts.SignIn(ctx, accounts.ProviderSignIn{Provider: "operator", Subject: t.user,
		Name: t.user})
	if err != nil {
		return err
	}
	if t.role != "" {
		if err := store.Accounts.SetRole(ctx, accounts.User{Name: "operator", Role: accounts.RoleAdmin}, owner.ID, accounts.Role(t.role)); err != nil {
			return err
		}
	}
	secret, _, err := store.Accounts.CreateToken(ctx, owner.ID, t.label, 0)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, secret)
	return nil
}
