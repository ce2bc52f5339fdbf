package boards_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/web/webtest"
)

func TestABaselineStandsBetweenTheEntriesWithoutARank(t *testing.T) {
	s := webtest.NewScene(t)
	s.Measured("H200", 11e3)
	path := "/tasks/" + s.Task.Slug + "/boards/H200"
	doc := s.BrowserOf(s.Ada).Page(path, http.StatusOK)
	webtest.CheckSound(t, doc)
	ghost := doc.Find("#board tr.ghost")
	if ghost.Length() != 1 || ghost.Prev().AttrOr("data-rank", "") != "2" ||
		ghost.Next().AttrOr("data-rank", "") != "3" {
		t.Errorf("the baseline stands after rank %q: %s", ghost.Prev().AttrOr("data-rank", ""), webtest.Words(ghost))
	}
	// As many cells as columns, so that its cells are below the right headings.
	if cells, columns := ghost.Find("td").Length(), doc.Find("#board thead th").Length(); cells != columns {
		t.Errorf("the baseline has %d cells below %d columns", cells, columns)
	}
	webtest.WantText(t, doc, "tr.ghost", "naive baseline")
	webtest.WantText(t, doc, "#board thead", "× naive")
	webtest.WantText(t, doc, fmt.Sprintf("#entry-%d", s.Ada.ID), "0.924×")
	webtest.WantText(t, doc, ".mark-name", "naive, 11.00")
	if doc.Find("#board tbody tr[data-rank]").Length() != 50 {
		t.Error("a baseline takes the place of an entry")
	}
	if second := s.Browser().Page(path+"?page=2", http.StatusOK); second.Find("tr.ghost").Length() != 0 {
		t.Error("the baseline stands on the second page, too")
	}
	resp := s.Browser().Get(ghost.Find("a").AttrOr("href", ""))
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "main", "Baseline mode")
}

func TestOnlyTheAuthorDownloadsTheSolutions(t *testing.T) {
	s := webtest.NewScene(t)
	for who, want := range map[*webtest.Browser]bool{s.Browser(): false, s.BrowserOf(s.Ada): false,
		s.BrowserOf(s.Admin): true} {
		data := webtest.Body(t, who.Get("/tasks/"+s.Task.Slug+"/bundle.zip"))
		archive, err := zip.NewReader(bytes.NewReader([]byte(data)), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		has := false
		for _, f := range archive.File {
			has = has || strings.Contains(f.Name, "/solutions/")
		}
		if has != want {
			t.Errorf("solutions in the download: %v, want %v", has, want)
		}
	}
}
