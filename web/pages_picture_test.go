package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestABoardIsDrawnOverItsTable(t *testing.T) {
	s := newScene(t)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	doc := s.browserOf(s.ada).page(board, http.StatusOK)
	if picture, table := doc.Find("figure.chart").Index(), doc.Find("figure.chart, #board").First(); picture < 0 || !table.Is("figure") {
		t.Error("the picture does not come before the table")
	}
	names := words(doc.Find(".point-name"))
	if !strings.Contains(names, "kernel-13") {
		t.Errorf("the record line names %q", names)
	}
	dots := doc.Find(".strip a[href^='/runs/']")
	if dots.Length() < 30 || dots.Find(".dot-mine").Length() != 1 {
		t.Errorf("%d dots, %d of them Ada's", dots.Length(), dots.Find(".dot-mine").Length())
	}
	mine := dots.Has(".dot-mine").AttrOr("href", "")
	resp := s.browser().get(mine)
	if got, want := resp.Request.URL.Path, fmt.Sprintf("/submissions/%d", s.done.SubmissionID); got != want {
		t.Errorf("Ada's dot %s leads to %s, want %s", mine, got, want)
	}
	first := doc.Find("#board tbody tr").First()
	if width := first.Find(".bar rect").AttrOr("width", ""); width != "100.0%" {
		t.Errorf("the bar of the first is %q wide", width)
	}
	wantText(t, doc, fmt.Sprintf("#entry-%d", s.ada.ID), "new 1")
}

func TestAPersonIsFoundOnTheBoard(t *testing.T) {
	s := newScene(t)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	last := s.browser().page(board+"?page=2", http.StatusOK).Find("#board tbody tr").Last()
	name := strings.Fields(words(last))[1]
	resp := s.browser().get(board + "?find=" + strings.ToUpper(name))
	doc := document(t, resp, http.StatusOK)
	if resp.Request.URL.Query().Get("page") != "2" || doc.Find("#"+resp.Request.URL.Fragment).Length() != 1 {
		t.Errorf("%s is unknown at %s", name, resp.Request.URL)
	}
	unknown := s.browser().page(board+"?find=Unknown+person", http.StatusOK)
	wantText(t, unknown, "[role=status]", "Unknown person")
	me := s.browserOf(s.ada).get(board + "?page=2&find=me")
	if want := fmt.Sprintf("entry-%d", s.ada.ID); me.Request.URL.Fragment != want || me.Request.URL.Query().Get("page") != "1" {
		t.Errorf("Ada is sent to %s", me.Request.URL)
	}
	wantText(t, s.browserOf(s.ada).page(board+"?page=2", http.StatusOK), "[data-tools] a", "Jump to me")
}

func TestABoardIsShownAsOfADate(t *testing.T) {
	s := newScene(t)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	b := s.browserOf(s.ada)
	today := b.page(board+"?at="+s.site.Now().Format(time.DateOnly), http.StatusOK)
	checkSound(t, today)
	wantText(t, today, "[data-past]", "as it stood at the end of")
	now := b.page(board, http.StatusOK)
	if got, want := words(today.Find("#board tbody tr:first-child")), words(now.Find("#board tbody tr:first-child")); strings.Fields(got)[1] != strings.Fields(want)[1] {
		t.Errorf("at the end of the day %q leads, now %q", got, want)
	}
	if today.Find("[hx-sse\\:connect]").Length() != 0 || !strings.Contains(today.Find("a[rel=next]").AttrOr("href", ""), "&at=") {
		t.Error("a past board is live, or its next page shows another time")
	}
	second := b.page(board+"?page=2&at="+s.site.Now().Format(time.DateOnly), http.StatusOK)
	if n := second.Find("#board tbody tr").Length(); n != 11 || second.Find("tfoot .mine").Length() != 1 {
		t.Errorf("the second page has %d rows, and Ada below %d times", n, second.Find("tfoot .mine").Length())
	}
	before := b.page(board+"?at=2020-01-01", http.StatusOK)
	wantText(t, before, "#board", "This board had no entries then")
	wantStatus(t, b.get(board+"?at=yesterday"), http.StatusUnprocessableEntity)
}
