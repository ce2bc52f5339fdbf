package web

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
)

// pointsOf are the lines of the leaderboards, without what only a wide window shows.
func pointsOf(doc *goquery.Document) []string {
	doc.Find("main tbody .hide-phone").Remove()
	return doc.Find("main tbody tr").Map(func(_ int, row *goquery.Selection) string { return words(row) })
}

func TestLeaderboardsRankPeopleOverTasks(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.ada)
	doc := b.page("/leaderboards", http.StatusOK)
	wantText(t, doc, "main a[href='/docs/leaderboards']", "How points work")
	rows := pointsOf(doc)
	if len(rows) < 15 || !strings.HasSuffix(rows[0], "100 1 – –") || !strings.HasPrefix(rows[1], "2 ") {
		t.Errorf("the page lists %q", rows)
	}
	wantText(t, doc, "tr.mine", "Ada Lovelace you")
	if doc := b.page("/leaderboards?device=H200", http.StatusOK); len(pointsOf(doc)) != len(rows) {
		t.Errorf("the only device with runs has other people")
	}
	wantText(t, b.page("/leaderboards?device=T4", http.StatusOK), "main", "No one has points on T4 yet.")
	wantText(t, b.page("/leaderboards?page=9", http.StatusOK), "main", "This page does not exist")
	wantText(t, b.page(fmt.Sprintf("/users/%d", s.ada.ID), http.StatusOK), "[aria-labelledby=points] tbody", "All devices")
	b.page("/docs/leaderboards", http.StatusOK)
	list, err := s.api(s.ada).Leaderboard(t.Context(), client.Season{}, 1)
	if err != nil || len(list.People) != len(rows) || list.People[0].Points != 100 || list.People[0].RecordSince == nil {
		t.Errorf("the API lists %+v, %v", list, err)
	}
}

func TestASeasonHasClearDates(t *testing.T) {
	s := newScene(t)
	today := time.Now().UTC().Format(time.DateOnly)
	for query, want := range map[string]string{
		"from=2026-13-01":               `"2026-13-01" is not a date for from: write it like 2026-11-01.`,
		"to=tomorrow":                   `"tomorrow" is not a date for to: write it like 2026-11-01.`,
		"from=2026-12-31&to=2026-10-01": "The season ends on 2026-10-01, before it begins on 2026-12-31: swap the dates.",
	} {
		wantText(t, s.browser().page("/leaderboards?"+query, http.StatusUnprocessableEntity), "main", want)
		resp := s.ask("GET", "/api/v1/leaderboards?"+query, "", "")
		if text := body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("the API answers %s to %s: %s", resp.Status, query, text)
		}
	}
	doc := s.browser().page("/leaderboards?from="+today+"&to="+today, http.StatusOK)
	if rows := pointsOf(doc); len(rows) < 15 {
		t.Errorf("the season of today lists %q", rows)
	}
	if from := doc.Find("#from").AttrOr("value", ""); from != today {
		t.Errorf("the form shows the day %q", from)
	}
	wantText(t, s.browser().page("/leaderboards?to=2020-12-31", http.StatusOK), "main", "No one has points in this season.")
}

func TestLeaderboardsLeadToAPersonsLine(t *testing.T) {
	s := newScene(t)
	href := s.browser().page(fmt.Sprintf("/users/%d", s.ada.ID), http.StatusOK).Find("[aria-labelledby=points] p a").AttrOr("href", "")
	address, err := url.Parse(href)
	if err != nil || address.Fragment == "" {
		t.Fatalf("the page of a person leads to %q, %v", href, err)
	}
	wantText(t, s.browser().page(href, http.StatusOK), "#"+address.Fragment, "Ada Lovelace")
}

func TestLeaderboardsFitTheirWindow(t *testing.T) {
	s := newScene(t)
	w := s.window().as(s.browserOf(s.ada))
	w.open("/leaderboards")
	w.looksRight("leaderboards")
	w.Do(chromedp.EmulateViewport(1280, 900))
	w.open(fmt.Sprintf("/users/%d", s.ada.ID))
	w.looksRight("person-points")
	w.refusedNothing()
}
