package boards_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"warpboard/clients/go"
	"warpboard/web/webtest"
)

// pointsOf returns the text of each row of the leaderboards as on a phone, without the columns that only wide windows
// show.
func pointsOf(doc *goquery.Document) []string {
	doc.Find("main tbody .hide-phone").Remove()
	return doc.Find("main tbody tr").Map(func(_ int, row *goquery.Selection) string { return webtest.Words(row) })
}

func TestLeaderboardsRankPeopleOverTasks(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	doc := b.Page("/leaderboards", http.StatusOK)
	webtest.WantText(t, doc, "main a[href='/docs/leaderboards']", "How points work")
	rows := pointsOf(doc)
	if len(rows) < 15 || !strings.HasSuffix(rows[0], "100 1 – –") || !strings.HasPrefix(rows[1], "2 ") {
		t.Errorf("the page lists %q", rows)
	}
	webtest.WantText(t, doc, "[data-unlisted]", "You earn points for each person you outrank; large ties earn less.")
	webtest.WantText(t, doc, "tr.mine", "Ada Lovelace you")
	if doc := b.Page("/leaderboards?device=H200", http.StatusOK); len(pointsOf(doc)) != len(rows) {
		t.Errorf("the only device with runs has other people")
	}
	webtest.WantText(t, b.Page("/leaderboards?device=T4", http.StatusOK), "main", "No one has points on T4 yet.")
	webtest.WantText(t, b.Page("/leaderboards?page=9", http.StatusOK), "main", "This page does not exist")
	webtest.WantText(t, b.Page(fmt.Sprintf("/users/%d", s.Ada.ID), http.StatusOK), "[aria-labelledby=points] tbody",
		"All devices")
	b.Page("/docs/leaderboards", http.StatusOK)
	list, err := s.API(s.Ada).Leaderboard(t.Context(), client.Season{}, 1)
	if err != nil || len(list.People) != len(rows) || list.People[0].Points != 100 ||
		list.People[0].RecordSince == nil {
		t.Errorf("the API lists %+v, %v", list, err)
	}
}

func TestASeasonHasClearDates(t *testing.T) {
	s := webtest.NewScene(t)
	today := time.Now().UTC().Format(time.DateOnly)
	for query, want := range map[string]string{
		"from=2026-13-01":               `"2026-13-01" is not a date for from: write it like 2026-11-01.`,
		"to=tomorrow":                   `"tomorrow" is not a date for to: write it like 2026-11-01.`,
		"from=2026-12-31&to=2026-10-01": "The season ends on 2026-10-01, before it begins on 2026-12-31: swap the dates.",
	} {
		webtest.WantText(t, s.Browser().Page("/leaderboards?"+query, http.StatusUnprocessableEntity), "main", want)
		resp := s.Ask("GET", "/api/v1/leaderboards?"+query, "", "")
		if text := webtest.Body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(text, strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("the API answers %s to %s: %s", resp.Status, query, text)
		}
	}
	doc := s.Browser().Page("/leaderboards?from="+today+"&to="+today, http.StatusOK)
	if rows := pointsOf(doc); len(rows) < 15 {
		t.Errorf("the season of today lists %q", rows)
	}
	if from := doc.Find("#from").AttrOr("value", ""); from != today {
		t.Errorf("the form shows the day %q", from)
	}
	webtest.WantText(t, s.Browser().Page("/leaderboards?to=2020-12-31", http.StatusOK), "main",
		"No one has points in this season.")
}

func TestLeaderboardsLeadToAPersonsLine(t *testing.T) {
	s := webtest.NewScene(t)
	href := s.Browser().Page(fmt.Sprintf("/users/%d", s.Ada.ID),
		http.StatusOK).Find("[aria-labelledby=points] p a").AttrOr("href", "")
	address, err := url.Parse(href)
	if err != nil || address.Fragment == "" {
		t.Fatalf("the page of a person leads to %q, %v", href, err)
	}
	webtest.WantText(t, s.Browser().Page(href, http.StatusOK), "#"+address.Fragment, "Ada Lovelace")
}

func TestLeaderboardsFitTheirWindow(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Visit("/leaderboards")
	w.LooksRight("leaderboards")
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.Visit(fmt.Sprintf("/users/%d", s.Ada.ID))
	w.LooksRight("person-points")
	w.RefusedNothing()
}
