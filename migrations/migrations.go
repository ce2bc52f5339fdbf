package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed sqlite/*.sql postgres/*.sql
var migrationFiles embed.FS

// Dialects for Apply, each with a directory of the same name.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

const (
	lockRetrySeconds = 1   // seconds between two tries to get the lock
	maxLockTries     = 300 // tries to get the lock before an error
)

const (
	// baselineVersion is the number of the first file. It replaced 27 files with numbers from 55 to 81.
	baselineVersion = 81
	// lastCommitBeforeBaseline is the last commit whose program had the files that the baseline replaced.
	lastCommitBeforeBaseline = "a31a328ca4f0"
)

// olderDatabaseError reports a database that is older than the baseline migration. version is its last applied
// migration.
type olderDatabaseError struct{ version int64 }

func (e olderDatabaseError) Error() string {
	return fmt.Sprintf("the database is at version %d, and this program upgrades only from version %d on: first start the warpboard of commit %s "+
		"on it once, the last one with the older migrations", e.version, baselineVersion, lastCommitBeforeBaseline)
}

// Apply applies the missing files, each in a transaction, and returns their number. On PostgreSQL a session lock lets
// several processes start at the same time. A database that is newer than the program, or older than the baseline, is
// refused.
func Apply(ctx context.Context, db *sql.DB, dialect string) (int, error) {
	return ApplyFiles(ctx, db, dialect, migrationFiles)
}

// ApplyFiles is Apply with other files, in one directory per dialect.
func ApplyFiles(ctx context.Context, db *sql.DB, dialect string, files fs.FS) (int, error) {
	provider, err := newProvider(db, dialect, files)
	if err != nil {
		return 0, fmt.Errorf("preparing %s migrations: %w", dialect, err)
	}
	results, err := provider.Up(ctx)
	if older, ok := errors.AsType[olderDatabaseError](err); ok {
		return 0, older
	}
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

func newProvider(db *sql.DB, dialect string, files fs.FS) (*goose.Provider, error) {
	scripts, err := scriptsForDialect(dialect, files)
	if err != nil {
		return nil, err
	}
	options := []goose.ProviderOption{goose.WithGoMigrations(scripts...)}
	switch dialect {
	case SQLite:
		return goose.NewProvider(goose.DialectSQLite3, db, nil, options...)
	case Postgres:
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockRetrySeconds, maxLockTries))
		if err != nil {
			return nil, err
		}
		return goose.NewProvider(goose.DialectPostgres, db, nil, append(options, goose.WithSessionLocker(locker))...)
	}
	return nil, fmt.Errorf("no dialect is called %q; there are %q and %q", dialect, SQLite, Postgres)
}

// scriptsForDialect returns the files of a dialect, each as one script. goose would split a file into statements, and
// use 4 MiB of memory for every line.
func scriptsForDialect(dialect string, files fs.FS) ([]*goose.Migration, error) {
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
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		apply := func(ctx context.Context, tx *sql.Tx) error {
			if version == baselineVersion {
				if err := refuseOlderDatabase(ctx, tx); err != nil {
					return err
				}
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		scripts = append(scripts, goose.NewGoMigration(version, &goose.GoFunc{RunTx: apply}, nil))
	}
	return scripts, nil
}

// refuseOlderDatabase returns an error if only files from before the baseline were applied to the database. It runs in
// the transaction of the baseline: on PostgreSQL no other process migrates the database then, and nothing has been
// written.
func refuseOlderDatabase(ctx context.Context, tx *sql.Tx) error {
	var version int64
	if err := tx.QueryRowContext(ctx, "select coalesce(max(version_id), 0) from goose_db_version").Scan(&version); err != nil {
		return fmt.Errorf("reading the version: %w", err)
	}
	if version > 0 && version < baselineVersion {
		return olderDatabaseError{version}
	}
	return nil
}
