package db

import (
	"strings"
	"time"

	"gorm.io/gorm/clause"
)

// Now returns the current time in the precision of the databases: UTC, in microseconds. It uses this process's clock.
// The processes of a site write times into the same columns and compare them with their own clocks (SeenAt of a worker,
// TakenAt of an attempt), so their clocks must agree within a second or two.
func Now() time.Time { return NormalizeTime(time.Now()) }

// NormalizeTime converts a time to the form of the databases. Convert every time that is compared with a column,
// because SQLite compares times as texts.
func NormalizeTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// NormalizeTimePtr is NormalizeTime for a nullable column.
func NormalizeTimePtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := NormalizeTime(*t)
	return &u
}

// SanitizeText converts external text for a text column: valid UTF-8 without NUL.
func SanitizeText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// CutText shortens text to at most n bytes without splitting a character.
func CutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return SanitizeText(text[:n])
}

// OrderBy returns an ORDER BY clause with arguments.
func OrderBy(sql string, args ...any) clause.OrderBy {
	return clause.OrderBy{Expression: clause.Expr{SQL: sql, Vars: args, WithoutParentheses: true}}
}
