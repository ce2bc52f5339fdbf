package format

import "time"

// Times of pages are in UTC; the script of the site converts them to the reader's own zone.

// Day formats a date.
func Day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// Minute formats a date with its time.
func Minute(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// Second formats a date with its time to the second.
func Second(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// Clock formats a time of day.
func Clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// ClockSecond is Clock to the second.
func ClockSecond(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// MachineTime formats a time for programs, as in the attribute datetime.
func MachineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// InputTime formats a time for a field of type datetime-local.
func InputTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
