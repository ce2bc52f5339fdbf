package boards

import (
	"cmp"
	"fmt"
	"html"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/views/format"
	"warpboard/web/site"
)

const svgContentType = "image/svg+xml; charset=utf-8"

// BoardBadge shows the best score of a board, or with ?user=ID the rank of that person.
func (p *Boards) BoardBadge(c *fiber.Ctx) error {
	b, err := p.publicBoardOf(c)
	if err != nil {
		return err
	}
	return p.sendCacheable(c, svgContentType, b.boardHead.ChangeNumber, func() ([]byte, error) {
		label, value := b.name(), "no entry"
		if id := c.QueryInt("user"); id > 0 {
			st, err := p.site.Store.Boards.PersonPlace(c.UserContext(), b.boardHead.VersionID, b.boardHead.Device,
				int64(id))
			if err == nil {
				value = scoreText(st.ScoreNS, st.Interval)
				if !st.IsOfOlderEpoch {
					value = fmt.Sprintf("%s of %d, %s", format.Rank(st.Rank, st.Tied), b.boardHead.PeopleCount, value)
				}
			} else if db.KindOf(err) != db.NotFound {
				return nil, err
			}
		} else if len(b.boardHead.Leaders) > 0 {
			value = scoreText(b.boardHead.Leaders[0].ScoreNS, b.boardHead.Leaders[0].Interval)
		}
		return drawBadge(label, value), nil
	})
}

// RunBadge shows the score of a run, and its rank if the run is an entry of the board.
func (p *Boards) RunBadge(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	seen, err := p.runs.RunByID(c.UserContext(), accounts.User{}, id)
	if err != nil {
		return err
	}
	run, task := seen.Run, seen.Task
	st, err := p.runStanding(c, run)
	if err != nil {
		return err
	}
	value := "no score"
	if run.Valid() {
		value = scoreText(*run.ScoreNS, run.Interval)
	}
	if st != nil {
		value = format.Rank(st.Rank, st.Tied) + ", " + value
	}
	return p.sendCacheable(c, svgContentType, value+task.Title, func() ([]byte, error) { return drawBadge(task.Title+" on "+run.Device, value), nil })
}

// scoreText formats a score, with the distances to the ends of its interval if it has one.
func scoreText(ns float64, i boards.Interval) string {
	text := format.Nanoseconds(ns).String()
	if i.LowNS != nil && i.HighNS != nil {
		text += " " + format.RelativeError(ns, (*i.HighNS-*i.LowNS)/2)
	}
	return text
}

// drawBadge draws an SVG badge with two texts. The reader's font is unknown, so each text is stretched to its estimated
// width.
func drawBadge(label, value string) []byte {
	label, value = clipText(job.MarkBidiControls(label)), clipText(job.MarkBidiControls(value))
	left, right := textWidth(label), textWidth(value)
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s: %s">`+
		`<rect width="%d" height="20" rx="4" fill="#17191c"/><path d="M%d 0h%dv20h-%dz" fill="#3346d3"/><rect x="%d" width="8" height="20" rx="4" fill="#3346d3"/>`+
		`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">`+
		`<text x="8" y="14" textLength="%d">%s</text><text x="%d" y="14" textLength="%d">%s</text></g></svg>`,
		left+right, html.EscapeString(label), html.EscapeString(value),
		left+right, left, right-6, right-6, left+right-8,
		left-16, html.EscapeString(label), left+8, right-16, html.EscapeString(value))
}

const maxBadgeText = 60 // limit of a text in letters

func clipText(text string) string {
	if letters := []rune(text); len(letters) > maxBadgeText {
		return string(letters[:maxBadgeText-1]) + "…"
	}
	return text
}

// textWidth estimates the width of a text with its margins, in pixels.
func textWidth(text string) int { return 16 + 7*cmp.Or(utf8.RuneCountInString(text), 1) }
