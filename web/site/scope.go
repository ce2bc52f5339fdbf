package site

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/boards"
)

// ReadTotalsQuery reads the devices and the time span of a ranking by points from the query. Both days are included,
// from midnight to midnight UTC.
func ReadTotalsQuery(c *fiber.Ctx) (boards.PeopleTotalsQuery, error) {
	scope := boards.PeopleTotalsQuery{Device: strings.TrimSpace(c.Query("device"))}
	var err error
	if scope.Start, err = readDay(c, "from"); err != nil {
		return scope, err
	}
	if scope.End, err = readDay(c, "to"); err != nil || scope.End.IsZero() {
		return scope, err
	}
	if scope.End.Before(scope.Start) {
		return scope, Invalid("to", "The season ends on %s, before it begins on %s: swap the dates.", c.Query("to"), c.Query("from"))
	}
	scope.End = scope.End.AddDate(0, 0, 1)
	return scope, nil
}

// readDay parses a date in the query. It returns the zero time if the parameter is absent.
func readDay(c *fiber.Ctx, name string) (time.Time, error) {
	text := c.Query(name)
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1970 || day.Year() > 9998 {
		return day, Invalid(name, "%q is not a date for %s: write it like 2026-11-01.", text, name)
	}
	return day, nil
}
