package migrations

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// The dialects that Up knows; each is also the name of its folder of files.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

const (
	lockEvery = 1   // seconds between two tries to get the lock
	lockTries = 300 // before giving up on a process that migrates
)

// Up applies what is missing, one transaction per file, and returns how many files it applied.
// On PostgreSQL a session lock lets several processes start at once. A database that a newer program
// has brought further than these files is refused.
func Up(ctx context.Context, db *sql.DB, dialect string) (int, error) {
	provider, err := Provider(db, dialect)
	if err != nil {
		return 0, fmt.Errorf("preparing %s migrations: %w", dialect, err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return len(results), fmt.Errorf("migrating the %s database: %w", dialect, err)
	}
	has, known, err := provider.GetVersions(ctx)
	if err != nil {
		return len(results), fmt.Errorf("reading the version of the %s database: %w", dialect, err)
	}
	if has > known {
		return len(results), fmt.Errorf("the database is at version %d, and this program knows only versions up to %d: "+
			"start the newer warpboard that used it last, or restore a backup from before", has, known)
	}
	return len(results), nil
}

// Provider is goose's of a dialect's files, for those who want another version than the newest.
func Provider(db *sql.DB, dialect string) (*goose.Provider, error) {
	scripts, err := scriptsOf(dialect)
	if err != nil {
		return nil, err
	}
	options := []goose.ProviderOption{goose.WithGoMigrations(scripts...)}
	switch dialect {
	case SQLite:
		return goose.NewProvider(goose.DialectSQLite3, db, nil, options...)
	case Postgres:
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockEvery, lockTries))
		if err != nil {
			return nil, err
		}
		return goose.NewProvider(goose.DialectPostgres, db, nil, append(options, goose.WithSessionLocker(locker))...)
	}
	return nil, fmt.Errorf("no dialect is called %q; there are %q and %q", dialect, SQLite, Postgres)
}

// scriptsOf are a dialect's files, each of which the database gets as one script. goose would cut them into statements,
// with 4 MiB of memory for every line.
func scriptsOf(dialect string) ([]*goose.Migration, error) {
	names, err := fs.Glob(files, dialect+"/*.sql")
	if err != nil {
		return nil, err
	}
	var scripts []*goose.Migration
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		apply := func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		scripts = append(scripts, goose.NewGoMigration(version, &goose.GoFunc{RunTx: apply}, nil))
	}
	return scripts, nil
}
