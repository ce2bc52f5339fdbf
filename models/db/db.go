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
	reader     *gorm.DB // SQLite: a pool of read-only connections; PostgreSQL: the same as writer
	writer     *gorm.DB // SQLite: one connection, so that writers queue instead of failing
	pingConn   *gorm.DB // one connection for Ping
	statements statementCounter
	dialect    string
}

// Open connects to a postgres:// URL, or to the SQLite file in dir if there is none, and applies missing migrations. It
// returns their number.
func Open(ctx context.Context, dir, dsn string) (d *DB, applied int, err error) {
	d = &DB{dialect: migrations.SQLite}
	if dsn != "" {
		d.dialect = migrations.Postgres
		if d.writer, err = openPostgres(dsn, 16, &d.statements); err == nil {
			d.pingConn, err = openPostgres(dsn, 1, &d.statements)
		}
		d.reader = d.writer
	} else {
		err = d.openSQLite(filepath.Join(dir, "warpboard.db"))
	}
	if err != nil {
		return nil, 0, err
	}
	if applied, err = migrations.Up(ctx, d.SQL(), d.dialect); err != nil {
		return nil, applied, errors.Join(err, d.Close())
	}
	return d, applied, nil
}

// SetClock sets another clock for the current day. Call it before using the database.
func (d *DB) SetClock(now func() time.Time) {
	utc := func() time.Time { return Time(now()) }
	d.writer.Config.NowFunc, d.reader.Config.NowFunc = utc, utc
}

// Close closes all connections.
func (d *DB) Close() error {
	var errs []error
	for _, db := range []*gorm.DB{d.reader, d.writer, d.pingConn} {
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

// SQL returns the pool that may write, for migrations, health checks and bulk loading.
func (d *DB) SQL() *sql.DB {
	pool, err := d.writer.DB()
	if err != nil {
		panic(err) // gorm fails here only for a pool that is no *sql.DB, and ours always is
	}
	return pool
}

// Ping returns an error if the database cannot be read. It reads a row, because SQLite's own ping reads nothing. It has
// a separate connection, because all others may be busy for long.
func (d *DB) Ping(ctx context.Context) error {
	var row []Setting
	return d.pingConn.WithContext(ctx).Limit(1).Find(&row).Error
}

// Write runs fn in a transaction. Transactions of all callers are sequential, on PostgreSQL as on SQLite. So IDs of
// events are assigned in the order in which they become visible (a watcher that resumes after an ID misses none), and
// no two transactions can deadlock.
//
// On SQLite the writer's only connection serializes them: callers wait in its pool until their context ends, and
// another process on the same file for _busy_timeout. On PostgreSQL it is the lock, which the end of the transaction
// releases after its rows are visible. The level is READ COMMITTED, independent of the server's default: each statement
// after the lock sees everything that the previous transaction wrote. With REPEATABLE READ the snapshot would be from
// before the wait, and a transaction that reads and then writes would fail. It is also each connection's default, for
// single statements; a pooler may lose that default.
func (d *DB) Write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return d.writer.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if d.dialect == migrations.Postgres {
			if err := tx.Exec("select pg_advisory_xact_lock(?)", writeLockNumber).Error; err != nil {
				return fmt.Errorf("waiting for the turn to write: %w", err)
			}
		}
		return fn(tx)
	}, &sql.TxOptions{Isolation: d.isolation()})
}

// isolation returns the level of a transaction; SQLite has only one.
func (d *DB) isolation() sql.IsolationLevel {
	if d.dialect == migrations.Postgres {
		return sql.LevelReadCommitted
	}
	return sql.LevelDefault
}

// It covers the whole database: two sites in two of its schemas share it.
const writeLockNumber = 7_236_544 // any number that nothing else locks in this database

// Read begins a query. It sees everything written before it; two queries may see different states.
func (d *DB) Read(ctx context.Context) *gorm.DB { return d.reader.WithContext(ctx) }

// Writer begins a single writing statement. On PostgreSQL it does not wait for the lock, and may run concurrently with
// a transaction: it must not read a value that it depends on first, nor lock several rows in another order than a
// transaction.
func (d *DB) Writer(ctx context.Context) *gorm.DB { return d.writer.WithContext(ctx) }

// DaySQL returns SQL for the day of a time in UTC, to group by; DayTextSQL formats it.
func (d *DB) DaySQL(column string) string {
	if d.Dialect() == migrations.Postgres {
		return "cast(" + column + " at time zone 'UTC' as date)"
	}
	return "substr(" + column + ", 1, 10)"
}

// DayTextSQL returns SQL that formats a DaySQL as 2026-11-22. Group by the DaySQL itself and format only the result: on
// PostgreSQL formatting takes longer than counting.
func (d *DB) DayTextSQL(column string) string {
	if d.Dialect() == migrations.Postgres {
		return "to_char(" + column + ", 'YYYY-MM-DD')"
	}
	return column
}
