package db

import (
	"strings"
	"time"

	"gorm.io/gorm/clause"
)

// Now returns the current time in the databases' precision: UTC, in microseconds. It is this process's clock. Several
// processes of a site write into the same columns and compare with their own clock (SeenAt of a worker, TakenAt of an
// attempt): they are assumed to agree within a second or two.
func Now() time.Time { return Time(time.Now()) }

// Time converts a time to the databases' form. Every time that is compared with a column must be converted: SQLite
// compares times as texts.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// TimePtr is Time for a column that may be null.
func TimePtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := Time(*t)
	return &u
}

// Sanitize converts text from outside for a text column: valid UTF-8 without zero bytes.
func Sanitize(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// CutText shortens text to at most n bytes at the border of a character.
func CutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Sanitize(text[:n])
}

// OrderBy is an order with arguments.
func OrderBy(sql string, args ...any) clause.OrderBy {
	return clause.OrderBy{Expression: clause.Expr{SQL: sql, Vars: args, WithoutParentheses: true}}
}
