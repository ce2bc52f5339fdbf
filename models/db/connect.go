package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

func gormConfig(count *statementCounter) *gorm.Config {
	return &gorm.Config{
		TranslateError:         true,
		SkipDefaultTransaction: true,
		NowFunc:                Now,
		Logger:                 count,
	}
}

// openSQLite opens the file with one connection for writing, a pool for reading, and a connection for Ping. In a single
// pool a writer could wait for seconds. `_txlock=immediate` prevents a transaction that first reads and then writes
// from failing with "database is locked".
func (d *DB) openSQLite(path string) (err error) {
	// _auto_vacuum has no effect on a database that already has tables.
	const options = "?_auto_vacuum=incremental&_journal_mode=WAL&_synchronous=NORMAL&_foreign_keys=on&_busy_timeout=10000"
	if err := restrictFileRights(path); err != nil {
		return err
	}
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + options
	open := func(to **gorm.DB, option string, prepare bool, most int) error {
		cfg := gormConfig(&d.statementCounter)
		cfg.PrepareStmt = prepare
		pool, err := gorm.Open(sqlite.Open(dsn+option), cfg)
		if err != nil {
			return fmt.Errorf("opening the database %s: %w", path, err)
		}
		limitConnections(pool, most)
		*to = pool
		return nil
	}
	return cmp.Or(open(&d.writeConn, "&_txlock=immediate", false, 1), open(&d.readPool, "&_query_only=on", true, max(8, runtime.NumCPU())),
		open(&d.pingConn, "&_query_only=on", false, 1))
}

// restrictFileRights makes the database file readable only for this user, because it contains private sources. SQLite
// gives its other files the same permissions.
func restrictFileRights(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("making the database: %w", err)
	}
	file.Close()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("making the database private: %w", err)
		}
	}
	return nil
}

// openPostgres opens a pool that returns times in UTC and whose transactions use READ COMMITTED, whatever the server's
// time zone and default isolation. It disables JIT: queries take milliseconds, and compiling one that PostgreSQL
// expected to be long took two seconds.
func openPostgres(dsn string, most int, count *statementCounter) (*gorm.DB, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err) // pgx hides the password
	}
	pool := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		c.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		// The isolation level is not a connection parameter, because poolers refuse parameters that they do not know.
		_, err := c.PgConn().Exec(ctx, "set default_transaction_isolation = 'read committed'; set jit = off").ReadAll()
		return err
	}))
	db, err := gorm.Open(postgres.New(postgres.Config{Conn: pool}), gormConfig(count))
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	db.ClauseBuilders["LIMIT"] = writeLimitClause
	limitConnections(db, most)
	return db, nil
}

// writeLimitClause writes LIMIT into the statement as a number. As a parameter it would be unknown when PostgreSQL
// plans a prepared statement: it would assume a tenth of all rows, find that generic plan expensive, and plan again for
// each execution, which takes longer than most queries. OFFSET stays a parameter, because it has many values.
func writeLimitClause(c clause.Clause, b clause.Builder) {
	limit, ok := c.Expression.(clause.Limit)
	if ok && limit.Limit != nil && *limit.Limit >= 0 {
		b.WriteString("LIMIT " + strconv.Itoa(*limit.Limit) + " ")
		limit.Limit = nil
	}
	limit.Build(b)
}

func limitConnections(db *gorm.DB, n int) {
	if pool, err := db.DB(); err == nil {
		pool.SetMaxOpenConns(n)
		pool.SetMaxIdleConns(n)
	}
}
