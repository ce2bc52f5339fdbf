package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"gorm.io/gorm"

	"warpboard/migrations"
)

// Config says where the data is.
type Config struct {
	// Dir is the data directory: it holds the SQLite file and the artifacts. It is made if missing.
	Dir string
	// DSN is a postgres:// URL; empty means SQLite in Dir.
	DSN string
	// Limits bound what one person may submit; the zero value sets no limit.
	Limits Limits
	// Log gets what deserves attention; nil discards it.
	Log *slog.Logger
}

// Store is the database with its rules. It is safe for concurrent use.
type Store struct {
	reader     *gorm.DB // SQLite: a pool of read-only connections; PostgreSQL: the same as writer
	writer     *gorm.DB // SQLite: one connection, so that writers queue instead of failing
	statements statements
	dialect    string
	artifacts  string
	limits     Limits
	log        *slog.Logger
}

// Open connects to the database, brings its schema up to date and returns the store.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Dir == "" {
		return nil, errors.New("opening the store: no data directory given")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{artifacts: filepath.Join(cfg.Dir, "artifacts"), limits: cfg.Limits, log: cfg.Log}
	if err := os.MkdirAll(s.artifacts, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	if err := s.connect(cfg); err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) connect(cfg Config) (err error) {
	if cfg.DSN != "" {
		s.dialect = migrations.Postgres
		s.writer, err = openPostgres(cfg.DSN, &s.statements)
		s.reader = s.writer
		return err
	}
	s.dialect = migrations.SQLite
	s.writer, s.reader, err = openSQLite(filepath.Join(cfg.Dir, "warpboard.db"), &s.statements)
	return err
}

func (s *Store) migrate(ctx context.Context) error {
	applied, err := migrations.Up(ctx, s.SQL(), s.dialect)
	if err != nil {
		return err
	}
	if applied > 0 {
		s.log.Info("database migrated", "dialect", s.dialect, "files", applied)
	}
	return s.rebuildIfAsked(ctx)
}

// Close ends all connections.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*gorm.DB{s.reader, s.writer} {
		if db == nil {
			continue
		}
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Dialect is migrations.SQLite or migrations.Postgres.
func (s *Store) Dialect() string { return s.dialect }

// SQL returns the pool that may write, for migrations, health checks and bulk loading.
func (s *Store) SQL() *sql.DB {
	pool, err := s.writer.DB()
	if err != nil {
		panic(err) // gorm fails here only for a pool that is no *sql.DB, and ours always is
	}
	return pool
}

// Ping fails when the database cannot be read. It asks for a row: SQLite's own ping looks at nothing, and
// the connection that writes may be busy for long.
func (s *Store) Ping(ctx context.Context) error {
	var row []Setting
	return s.read(ctx).Limit(1).Find(&row).Error
}

// write runs fn in a transaction; transactions of all callers run one after the other, on
// PostgreSQL as on SQLite. Ids of events are so handed out in the order in which they become
// visible (a watcher that resumes after an id misses none), and no two transactions can deadlock.
func (s *Store) write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return s.writer.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if s.dialect == migrations.Postgres {
			if err := tx.Exec("select pg_advisory_xact_lock(?)", writeLock).Error; err != nil {
				return fmt.Errorf("waiting for the turn to write: %w", err)
			}
		}
		return fn(tx)
	})
}

const writeLock = 7_236_544 // any number that nobody else locks in this database

func (s *Store) read(ctx context.Context) *gorm.DB { return s.reader.WithContext(ctx) }

func (s *Store) save(ctx context.Context) *gorm.DB { return s.writer.WithContext(ctx) }

// now is the time as the databases can keep it: UTC, in microseconds.
func now() time.Time { return stored(time.Now()) }

func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func storedPtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := stored(*t)
	return &u
}
