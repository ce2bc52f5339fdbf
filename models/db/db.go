package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"gorm.io/gorm"

	"warpboard/migrations"
)

// DB is a database with the current schema. It is safe for concurrent use.
type DB struct {
	readPool         *gorm.DB // SQLite: a pool of read-only connections; PostgreSQL: the same as writer
	writeConn        *gorm.DB // SQLite: one connection, so that writers queue instead of failing
	pingConn         *gorm.DB // one connection for Ping
	statementCounter statementCounter
	dialect          string
}

// Open connects to the postgres:// URL dsn or, if it is empty, to the SQLite file in dir. It applies missing migrations
// and returns their number.
func Open(ctx context.Context, dir, dsn string) (d *DB, applied int, err error) {
	d = &DB{dialect: migrations.SQLite}
	if dsn != "" {
		d.dialect = migrations.Postgres
		if d.writeConn, err = openPostgres(dsn, 16, &d.statementCounter); err == nil {
			d.pingConn, err = openPostgres(dsn, 1, &d.statementCounter)
		}
		d.readPool = d.writeConn
	} else {
		err = d.openSQLite(filepath.Join(dir, "warpboard.db"))
	}
	if err != nil {
		return nil, 0, err
	}
	if applied, err = migrations.Apply(ctx, d.SQL(), d.dialect); err != nil {
		return nil, applied, errors.Join(err, d.Close())
	}
	return d, applied, nil
}

// SetClock sets the clock that determines the current day. Call it before using the database.
func (d *DB) SetClock(now func() time.Time) {
	utc := func() time.Time { return NormalizeTime(now()) }
	d.writeConn.Config.NowFunc, d.readPool.Config.NowFunc = utc, utc
}

// Close closes all connections.
func (d *DB) Close() error {
	var errs []error
	for _, db := range []*gorm.DB{d.readPool, d.writeConn, d.pingConn} {
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Dialect returns migrations.SQLite or migrations.Postgres.
func (d *DB) Dialect() string { return d.dialect }

// SQL returns the pool that may write, for migrations, health checks, and bulk loading.
func (d *DB) SQL() *sql.DB {
	pool, err := d.writeConn.DB()
	if err != nil {
		panic(err) // gorm fails here only for a pool that is no *sql.DB, and ours always is
	}
	return pool
}

// Ping returns an error if the database cannot be read. It reads a row, because SQLite's own ping reads nothing. It has
// a separate connection, because all others may be busy.
func (d *DB) Ping(ctx context.Context) error {
	var row []Setting
	return d.pingConn.WithContext(ctx).Limit(1).Find(&row).Error
}

// Write runs fn in a transaction. Transactions of all callers and processes are serialized, on PostgreSQL as on SQLite.
// So IDs of events are assigned in the order in which they become visible (a reader that resumes after an ID misses
// none), and transactions cannot deadlock.
//
// On SQLite the only writing connection serializes them: callers wait in its pool until their context ends, and other
// processes wait for _busy_timeout. On PostgreSQL an advisory lock does, which is released after the commit. The
// isolation level is READ COMMITTED: each statement after the lock sees everything that the previous transaction wrote.
// With REPEATABLE READ the snapshot would be older than the lock, and a transaction that reads and then writes would
// fail. READ COMMITTED is also set for each connection, for single statements; a pooler may lose that setting.
func (d *DB) Write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return d.writeConn.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if d.dialect == migrations.Postgres {
			if err := tx.Exec("select pg_advisory_xact_lock(?)", writeLockNumber).Error; err != nil {
				return fmt.Errorf("waiting for the turn to write: %w", err)
			}
		}
		return fn(tx)
	}, &sql.TxOptions{Isolation: d.isolation()})
}

// isolation returns the isolation level of transactions; SQLite has only one.
func (d *DB) isolation() sql.IsolationLevel {
	if d.dialect == migrations.Postgres {
		return sql.LevelReadCommitted
	}
	return sql.LevelDefault
}

// writeLockNumber identifies the advisory lock on PostgreSQL. The lock covers the whole database, so two sites in two
// schemas share it.
const writeLockNumber = 7_236_544 // any number that nothing else locks in this database

// Read begins a query. It sees everything that was committed before; two queries may see different states.
func (d *DB) Read(ctx context.Context) *gorm.DB { return d.readPool.WithContext(ctx) }

// WriteStatement begins a single writing statement outside a transaction. On PostgreSQL it does not take the lock of
// Write and may run concurrently with a transaction. It must not depend on values that were read before, and must not
// lock several rows in another order than transactions do.
func (d *DB) WriteStatement(ctx context.Context) *gorm.DB { return d.writeConn.WithContext(ctx) }

// DaySQL returns SQL for the UTC day of a time, for grouping. DayTextSQL formats it.
func (d *DB) DaySQL(column string) string {
	if d.Dialect() == migrations.Postgres {
		return "cast(" + column + " at time zone 'UTC' as date)"
	}
	return "substr(" + column + ", 1, 10)"
}

// DayTextSQL returns SQL that formats a DaySQL as 2026-11-22. Group by DaySQL and format only the result, because on
// PostgreSQL formatting takes longer than counting.
func (d *DB) DayTextSQL(column string) string {
	if d.Dialect() == migrations.Postgres {
		return "to_char(" + column + ", 'YYYY-MM-DD')"
	}
	return column
}
