package format

import "time"

// Times of pages are in UTC; the script of the site converts them to the reader's own zone.

// Day formats a date.
func Day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// DateMinute formats a date with its time.
func DateMinute(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// DateSecond formats a date with its time to the second.
func DateSecond(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// TimeOfDay formats a time of day.
func TimeOfDay(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// TimeOfDaySecond is TimeOfDay to the second.
func TimeOfDaySecond(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// MachineTime formats a time for programs, as in the attribute datetime.
func MachineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// FormTime formats a time for a field of type datetime-local.
func FormTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
