package share

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
	"warpboard/web/site"
)

func boardPath(slug, device string) string {
	return "/tasks/" + url.PathEscape(slug) + "/boards/" + url.PathEscape(device)
}

// BoardCSV is everyone on a board, for a spreadsheet.
func (s *Share) BoardCSV(c *fiber.Ctx) error {
	b, err := s.boardOf(c)
	if err != nil {
		return err
	}
	list, _, err := s.site.Store.Boards.Past(c.UserContext(), b.head.VersionID, b.head.Device, s.site.Now())
	if err != nil {
		return err
	}
	rows := [][]string{{"rank", "tied", "person", "person_id", "score_ns", "error_ns", "interval_low_ns", "interval_high_ns", "processes", "tries", "achieved_at", "run", "submission", "pooled_runs", "disturbed",
		"error_ulp", "error_relative", "memory_peak", "validation", "validation_message", "validation_version"}}
	for _, e := range list {
		rows = append(rows, []string{strconv.Itoa(e.Rank), strconv.FormatBool(e.Tied), e.UserName, number(e.UserID), format.Exact(e.ScoreNS), format.Exact(e.ErrNS),
			exact(e.LowNS), exact(e.HighNS), strconv.Itoa(e.Processes), strconv.Itoa(e.Tries), machineTime(e.AchievedAt), number(e.RunID), number(e.SubmissionID), strconv.Itoa(max(e.Pooled, 1)), e.Disturbed,
			exact(e.ErrorULP), exact(e.ErrorRelative), bytesOf(e.MemoryPeak), e.Answer, e.Message, e.ScriptVersion})
	}
	return site.SendCSV(c, rows)
}

func bytesOf(n *int64) string {
	if n == nil {
		return ""
	}
	return number(*n)
}

func number(id int64) string { return strconv.FormatInt(id, 10) }

func exact(ns *float64) string {
	if ns == nil {
		return ""
	}
	return format.Exact(*ns)
}
