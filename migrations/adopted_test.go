package migrations_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/modelstest"
)

// lastOfOld is the number of the last migration that the baseline replaced. The baseline has the same number.
const lastOfOld = 81

// emptyPlaces returns the configuration of an empty database for each dialect.
func emptyPlaces(t *testing.T) map[string]models.Config {
	return map[string]models.Config{migrations.SQLite: {Dir: t.TempDir()},
		migrations.Postgres: {Dir: t.TempDir(), DSN: modelstest.AlwaysPostgresURL(t)}}
}

// eachAdopted runs fn in a subtest for each dialect, on a database that the last program with the old migrations wrote.
func eachAdopted(t *testing.T, fn func(t *testing.T, dialect string, cfg models.Config, db *sql.DB)) {
	for dialect, cfg := range emptyPlaces(t) {
		t.Run(dialect, func(t *testing.T) {
			script, err := os.ReadFile(fmt.Sprintf("testdata/%05d_%s.sql", lastOfOld, dialect))
			if err != nil {
				t.Fatal(err)
			}
			db := openAt(t, cfg)
			if _, err := db.ExecContext(t.Context(), string(script)); err != nil {
				t.Fatal(err)
			}
			fn(t, dialect, cfg, db)
		})
	}
}

// openAt opens a database without applying migrations.
func openAt(t *testing.T, cfg models.Config) *sql.DB {
	t.Helper()
	driver, source := "sqlite3", filepath.Join(cfg.Dir, "warpboard.db")
	if cfg.DSN != "" {
		driver, source = "pgx", cfg.DSN
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestAnAdoptedDatabaseHasTheSchemaOfANewOne(t *testing.T) {
	fresh := emptyPlaces(t)
	eachAdopted(t, func(t *testing.T, dialect string, _ models.Config, db *sql.DB) {
		other := openAt(t, fresh[dialect])
		for _, db := range []*sql.DB{db, other} {
			if _, err := migrations.Apply(t.Context(), db, dialect); err != nil {
				t.Fatal(err)
			}
		}
		want := schemaOf(t, other, dialect)
		if diff := cmp.Diff(want, schemaOf(t, db, dialect)); diff != "" || len(want) < 400 {
			t.Errorf("%d lines of schema (-new +adopted):\n%s", len(want), diff)
		}
	})
}

func TestAnAdoptedDatabaseGetsLaterMigrations(t *testing.T) {
	eachAdopted(t, func(t *testing.T, dialect string, _ models.Config, db *sql.DB) {
		names, err := filepath.Glob(dialect + "/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		later := fstest.MapFS{fmt.Sprintf("%s/%05d_later.sql", dialect,
			lastOfOld+len(names)): {Data: []byte("create table later (id integer)")}}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			later[filepath.ToSlash(name)] = &fstest.MapFile{Data: text}
		}
		if n, err := migrations.ApplyFiles(t.Context(), db, dialect, later); n != len(names) || err != nil {
			t.Errorf("%d files were applied, %v", n, err)
		}
		if _, err := db.ExecContext(t.Context(), "insert into later values (1)"); err != nil {
			t.Error(err)
		}
	})
}

// TestADatabaseFromBeforeTheLastOldMigrationIsRefused checks that the error names the program that can upgrade the
// database, and that the database is not changed.
func TestADatabaseFromBeforeTheLastOldMigrationIsRefused(t *testing.T) {
	for _, version := range []int{80, 1} {
		eachAdopted(t, func(t *testing.T, dialect string, cfg models.Config, db *sql.DB) {
			if _, err := db.ExecContext(t.Context(), "delete from goose_db_version where version_id > $1",
				version); err != nil {
				t.Fatal(err)
			}
			before, rows := schemaOf(t, db, dialect), rowsOf(t, db, dialect)
			s, err := models.Open(t.Context(), cfg)
			if err == nil {
				s.Close()
			}
			want := fmt.Sprintf(
				"the database is at version %d, and this program upgrades only from version 81 on: first start the warpboard of commit "+
					"a31a328ca4f0 on it once, the last one with the older migrations", version)
			if err == nil || err.Error() != want {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(before, schemaOf(t, db, dialect)) + cmp.Diff(rows, rowsOf(t, db, dialect)); diff != "" {
				t.Errorf("the refused database (-before +after):\n%s", diff)
			}
		})
	}
}
