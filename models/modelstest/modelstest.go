package modelstest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"warpboard/internal/test/tier"
	"warpboard/models"
)

// Open returns an empty store on SQLite. It is closed when the test ends.
func Open(t testing.TB) *models.Store {
	t.Helper()
	return open(t, models.Config{Dir: t.TempDir()})
}

// OpenDir returns the SQLite store in a directory. It is closed when the test ends.
func OpenDir(t testing.TB, dir string) *models.Store {
	t.Helper()
	return open(t, models.Config{Dir: dir})
}

// OpenPostgres returns an empty store on the test process's PostgreSQL.
func OpenPostgres(t testing.TB) *models.Store {
	t.Helper()
	return open(t, models.Config{Dir: t.TempDir(), DSN: PostgresURL(t)})
}

// Each runs fn as one subtest per database. `make test-postgres` runs the PostgreSQL subtest.
func Each(t *testing.T, fn func(t *testing.T, s *models.Store)) {
	t.Helper()
	EachConfig(t, models.Config{}, fn)
}

// EachDialect runs fn as one subtest per database, as Each does, for statements that differ between the databases. The
// small test tier also runs both subtests.
func EachDialect(t *testing.T, fn func(t *testing.T, s *models.Store)) {
	t.Helper()
	onSQLite(t, models.Config{}, fn)
	t.Run("postgres", func(t *testing.T) { fn(t, openEmptied(t, models.Config{})) })
}

// EachConfig runs fn as one subtest per database, as Each does, with additional settings; Dir and DSN are set. A test
// that changes tables or their versions must undo that, because another test reuses the schema.
func EachConfig(t *testing.T, cfg models.Config, fn func(t *testing.T, s *models.Store)) {
	t.Helper()
	onSQLite(t, cfg, fn)
	t.Run("postgres", func(t *testing.T) {
		tier.Needs(t, tier.Postgres)
		fn(t, openEmptied(t, cfg))
	})
}

func onSQLite(t *testing.T, cfg models.Config, fn func(t *testing.T, s *models.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		cfg.Dir = t.TempDir()
		fn(t, open(t, cfg))
	})
}

func openEmptied(t *testing.T, cfg models.Config) *models.Store {
	t.Helper()
	cfg.Dir, cfg.DSN = t.TempDir(), emptyPostgresURL(t)
	return open(t, cfg)
}

// Pair runs fn as one subtest per database, with two stores on the same database, as two processes of a site have.
func Pair(t *testing.T, fn func(t *testing.T, here, there *models.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		cfg := models.Config{Dir: t.TempDir()}
		fn(t, open(t, cfg), open(t, cfg))
	})
	t.Run("postgres", func(t *testing.T) {
		cfg := models.Config{Dir: t.TempDir(), DSN: PostgresURL(t)}
		fn(t, open(t, cfg), open(t, cfg))
	})
}

// sqliteFile is the name of the SQLite file of a store.
const sqliteFile = "warpboard.db"

// blank returns the content of the SQLite file of an empty, closed store. Copying it takes a tenth of the time of all
// migrations. The store was closed, so that the file contains the write-ahead log.
var blank = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "warpboard-blank-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := models.Open(context.Background(), models.Config{Dir: dir})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, sqliteFile))
})

// copyBlank writes an empty database to a directory.
func copyBlank(dir string) error {
	path := filepath.Join(dir, sqliteFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := blank()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func open(t testing.TB, cfg models.Config) *models.Store {
	t.Helper()
	if cfg.DSN == "" {
		if err := copyBlank(cfg.Dir); err != nil {
			t.Fatal(err)
		}
	}
	s, err := models.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return s
}
