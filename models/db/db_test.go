package db_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"
	"gorm.io/gorm"

	"warpboard/migrations"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

// each opens an empty database of both kinds; the PostgreSQL one has an administrator who requires serializable
// transactions.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	for name, dsn := range map[string]string{"sqlite": "", "postgres": modelstest.AlwaysPostgresURL(t) +
		"&default_transaction_isolation=serializable"} {
		t.Run(name, func(t *testing.T) {
			d, applied, err := db.Open(t.Context(), t.TempDir(), dsn)
			if err != nil || applied == 0 {
				t.Fatalf("%d migrations, %v", applied, err)
			}
			defer d.Close()
			fn(t, d)
		})
	}
}

func TestErrorsKeepTheirKindThroughEveryWrap(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want db.ErrorKind
		text string
	}{
		"missing row": {db.ReadError(gorm.ErrRecordNotFound, "run %d", 7), db.NotFound, "There is no run 7."},
		"taken name": {db.WriteError(gorm.ErrDuplicatedKey, "task"), db.Conflict,
			"Another task has that name already."},
		"wrapped":         {fmt.Errorf("starting: %w", db.Errorf(db.Forbidden, "No.")), db.Forbidden, "starting: No."},
		"else":            {db.ReadError(errors.New("boom"), "run %d", 7), db.Internal, "reading run 7: boom"},
		"saving":          {db.WriteError(errors.New("boom"), "run %d", 7), db.Internal, "saving run 7: boom"},
		"disk full":       {fmt.Errorf("x: %w", sqlite3.Error{Code: sqlite3.ErrFull}), db.Unavailable, ""},
		"busy":            {sqlite3.Error{Code: sqlite3.ErrBusy}, db.Unavailable, ""},
		"wrong SQL":       {sqlite3.Error{Code: sqlite3.ErrError}, db.Internal, ""},
		"server stops":    {&pgconn.PgError{Code: "57P01"}, db.Unavailable, ""},
		"server is full":  {&pgconn.PgError{Code: "53300"}, db.Unavailable, ""},
		"syntax":          {&pgconn.PgError{Code: "42601"}, db.Internal, ""},
		"connection gone": {driver.ErrBadConn, db.Unavailable, ""},
		"no space":        {fmt.Errorf("write: %w", syscall.ENOSPC), db.Unavailable, ""},
	} {
		if got := db.KindOf(c.err); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if c.text != "" && c.err.Error() != c.text {
			t.Errorf("%s: %q, want %q", name, c.err, c.text)
		}
	}
	if db.ReadError(nil, "x") != nil || db.WriteError(nil, "x") != nil {
		t.Error("no error became one")
	}
}

func TestSanitizeTextMakesValuesFitForColumns(t *testing.T) {
	odd := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("here", 3600))
	if got := db.NormalizeTime(odd); got.Location() != time.UTC || got.Nanosecond() != 6000 || !db.NormalizeTimePtr(&odd).Equal(got) ||
		db.NormalizeTimePtr(nil) != nil {
		t.Errorf("the time is %v", got)
	}
	if got := db.SanitizeText("a\x00b\xffc"); got != "ab\uFFFDc" {
		t.Errorf("the text is %q", got)
	}
	for n := range 8 {
		if got := db.CutText("aéüz", n); len(got) > n+2 || !utf8.ValidString(got) {
			t.Errorf("cut at %d: %q", n, got)
		}
	}
	if a, b := db.NewSecret(), db.NewSecret(); a == b || len(a) != 43 || db.HashSecret(a) == db.HashSecret(b) ||
		strings.Contains(db.HashSecret(a), a) {
		t.Errorf("secrets %q and %q", a, b)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"Vector Add!": "vector-add", "--a__b--": "a-b", "ÄÖ": "",
		strings.Repeat("ab-", 40): strings.Trim(strings.Repeat("ab-", 20), "-")} {
		if got := db.Slug(name); got != want {
			t.Errorf("the slug of %q is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"H200": true, "RTX-4090_x.1": true, "": false, "-a": false, "a b": false,
		"a/b": false, strings.Repeat("a", 40): true, strings.Repeat("a", 41): false} {
		if db.IsValidName(name) != want {
			t.Errorf("%q is a name: %v", name, !want)
		}
	}
}

func TestWritesHaveTheirTurnAndFailWhole(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		const writers = 8
		done := make(chan error, writers)
		for range writers {
			go func() {
				// no other transaction can change the row between this read and the write
				done <- d.Write(ctx, func(tx *gorm.DB) error {
					var row db.Setting
					if err := tx.Where("key = ?", "n").Limit(1).Find(&row).Error; err != nil {
						return err
					}
					return tx.Save(&db.Setting{Key: "n", Value: row.Value + "x"}).Error
				})
			}()
		}
		for range writers {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		want := strings.Repeat("x", writers)
		if got, err := d.Setting(ctx, "n"); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		if level := ""; d.Dialect() == migrations.Postgres {
			if err := d.Read(ctx).Raw("show transaction_isolation").Scan(&level).Error; err != nil ||
				level != "read committed" {
				t.Errorf("a statement on its own is %s, %v", level, err)
			}
			if err := d.Read(ctx).Raw("show jit").Scan(&level).Error; err != nil || level != "off" {
				t.Errorf("statements are compiled: %s, %v", level, err)
			}
		}
		boom := errors.New("boom")
		err := d.Write(ctx, func(tx *gorm.DB) error {
			return errors.Join(tx.Save(&db.Setting{Key: "n",
				Value: "lost"}).Error, boom)
		})
		if got, readErr := d.Setting(ctx, "n"); !errors.Is(err, boom) || readErr != nil || got != want {
			t.Errorf("after a failure: %q, %v, %v", got, err, readErr)
		}
		if got, err := d.Setting(ctx, "none"); got != "" || err != nil {
			t.Errorf("a setting that there is not: %q, %v", got, err)
		}
		before := d.QueryCount()
		if err := d.Ping(ctx); err != nil || d.QueryCount() != before+1 {
			t.Errorf("ping: %v in %d statements", err, d.QueryCount()-before)
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if d.Ping(gone) == nil || d.SetSetting(gone, "n", "y") == nil {
			t.Error("a call that was given up went on")
		}
	})
}

// TestPingWaitsForNoOne checks that Ping answers while all connections for reading and writing are busy.
func TestPingWaitsForNoOne(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		reader, err := d.Read(t.Context()).DB()
		if err != nil {
			t.Fatal(err)
		}
		for range reader.Stats().MaxOpenConnections {
			conn, err := reader.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		// on PostgreSQL the loop above has already taken the connections for writing
		if d.Dialect() == migrations.SQLite {
			conn, err := d.SQL().Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		if err := d.Ping(t.Context()); err != nil { // a wrong Ping would wait forever
			t.Error(err)
		}
	})
}

func TestASQLiteFileIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "warpboard.db")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	d, _, err := db.Open(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.SetSetting(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := d.Read(t.Context()).Create(&db.Setting{Key: "x"}).Error; err == nil {
		t.Error("a connection that only reads wrote")
	}
}
