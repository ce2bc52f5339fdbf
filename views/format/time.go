package format

import "time"

// Times of pages are in UTC; the script of the site turns them into the reader's own zone.

// Day shows a date.
func Day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// Minute shows a date with its time.
func Minute(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// Second shows a date with its time to the second.
func Second(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// Clock shows the time of a day that is known.
func Clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// ClockSecond is Clock to the second.
func ClockSecond(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// Machine shows a time for programs, as the datetime attribute takes it.
func Machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Input shows a time as a field of type datetime-local takes it.
func Input(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
