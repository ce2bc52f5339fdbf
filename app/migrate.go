package app

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"warpboard/models"
	"warpboard/models/accounts"
)

// migrate opens the database, which brings its schema up to date, and rebuilds the boards.
func migrate(ctx context.Context, env Environment, args []string) error {
	cfg, err := parse("migrate", args, env.Getenv, env.Stdout)
	if err != nil {
		return err
	}
	// No lock on the data directory is taken: it may run beside a site, whose writes wait while boards are rebuilt.
	store, err := models.Open(ctx, models.Config{Dir: cfg.Data, DSN: cfg.DatabaseURL, Log: cfg.logger(env.Stderr)})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Boards.RebuildEntries(ctx); err != nil {
		return fmt.Errorf("rebuild boards: %w", err)
	}
	fmt.Fprintln(env.Stdout, "database is up to date, boards are rebuilt from the stored runs")
	return nil
}

// makeToken prints a new personal token: for operators and scripts on the server's own machine.
func makeToken(ctx context.Context, env Environment, args []string) error {
	var user, role, label string
	cfg, err := parse("token", args, env.Getenv, env.Stdout, func(fs *flag.FlagSet) {
		fs.StringVar(&user, "user", "", "whose token it is: a user of this command's own, made when there is none; never one who signs in")
		fs.StringVar(&role, "role", "", "role to give that user: user, creator or admin; default: the one they have, user at first")
		fs.StringVar(&label, "name", "made by the operator", "what the token is for")
	})
	if err != nil {
		return err
	}
	if user == "" {
		return errors.New("--user is needed: whose token is it?")
	}
	store, err := models.Open(ctx, models.Config{Dir: cfg.Data, DSN: cfg.DatabaseURL, Log: cfg.logger(env.Stderr)})
	if err != nil {
		return err
	}
	defer store.Close()
	// The provider "operator" is nobody's sign-in, so that a token never is of an account that a person signs in with.
	owner, err := store.Accounts.SignIn(ctx, accounts.SignIn{Provider: "operator", Subject: user, Name: user})
	if err != nil {
		return err
	}
	if role != "" {
		if err := store.Accounts.SetRole(ctx, accounts.User{Name: "operator", Role: accounts.RoleAdmin}, owner.ID, accounts.Role(role)); err != nil {
			return err
		}
	}
	secret, _, err := store.Accounts.CreateToken(ctx, owner.ID, label, 0)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, secret)
	return nil
}
