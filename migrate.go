package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"warpboard/models"
)

// migrate opens the database, which brings its schema up to date, and rebuilds the boards.
func migrate(ctx context.Context, env environment, args []string) error {
	cfg, err := parse("migrate", args, env.getenv, env.stdout)
	if err != nil {
		return err
	}
	store, err := models.Open(ctx, models.Config{Dir: cfg.Data, DSN: cfg.DatabaseURL, Log: cfg.logger(env.stderr)})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.RebuildEntries(ctx); err != nil {
		return fmt.Errorf("rebuild boards: %w", err)
	}
	fmt.Fprintln(env.stdout, "database is up to date, boards are rebuilt from the stored runs")
	return nil
}

// makeToken prints a new personal token: for operators and scripts on the server's own machine.
func makeToken(ctx context.Context, env environment, args []string) error {
	cfg := &Config{}
	fs := newFlags("token", cfg, env.stdout)
	user := fs.String("user", "", "name of the user; made when there is none")
	role := fs.String("role", string(models.RoleUser), "role of the user: user, creator or admin")
	label := fs.String("name", "made by the operator", "what the token is for")
	fs.Usage = func() { usage(fs, "token", env.stdout) }
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *user == "" {
		return errors.New("--user is needed: whose token is it?")
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("token takes no argument %q: %w", fs.Arg(0), flag.ErrHelp)
	}
	cfg.fillIn()
	store, err := models.Open(ctx, models.Config{Dir: cfg.Data, DSN: cfg.DatabaseURL, Log: cfg.logger(env.stderr)})
	if err != nil {
		return err
	}
	defer store.Close()
	owner, err := store.SignIn(ctx, models.SignIn{Provider: "operator", Subject: *user, Name: *user})
	if err != nil {
		return err
	}
	if err := store.SetRole(ctx, models.User{Name: "operator", Role: models.RoleAdmin}, owner.ID, models.Role(*role)); err != nil {
		return err
	}
	secret, _, err := store.CreateToken(ctx, owner.ID, *label, 0)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.stdout, secret)
	return nil
}
