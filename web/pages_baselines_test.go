package web

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/work"
)

func TestABaselineStandsBetweenTheEntriesWithoutARank(t *testing.T) {
	s := newScene(t)
	h := job.Heartbeat{Worker: "rack-9", Started: time.Now(), Slots: []job.Slot{{Device: "H200", Machine: job.Machine{Driver: "570"}}}}
	if _, _, err := s.site.Store.NoteSlots(t.Context(), h); err != nil { // it is the first worker with that device
		t.Fatal(err)
	}
	waits, err := s.site.Store.Work.Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range waits {
		if q.Priority == work.PriorityBaseline && q.Device == "H200" {
			run, err := s.site.Store.Work.Run(t.Context(), q.RunID)
			if err != nil {
				t.Fatal(err)
			}
			s.finish(run, 11e3)
		}
	}
	path := "/tasks/" + s.task.Slug + "/boards/H200"
	doc := s.browserOf(s.ada).page(path, http.StatusOK)
	checkSound(t, doc)
	ghost := doc.Find("#board tr.ghost")
	if ghost.Length() != 1 || ghost.Prev().AttrOr("data-rank", "") != "2" || ghost.Next().AttrOr("data-rank", "") != "3" {
		t.Errorf("the baseline stands after rank %q: %s", ghost.Prev().AttrOr("data-rank", ""), words(ghost))
	}
	if cells, columns := ghost.Find("td").Length(), doc.Find("#board thead th").Length(); cells != columns { // so that they line up
		t.Errorf("the baseline has %d cells below %d columns", cells, columns)
	}
	wantText(t, doc, "tr.ghost", "naive baseline")
	wantText(t, doc, "#board thead", "× naive")
	wantText(t, doc, fmt.Sprintf("#entry-%d", s.ada.ID), "0.924×")
	wantText(t, doc, ".mark-name", "naive, 11.00")
	if doc.Find("#board tbody tr[data-rank]").Length() != 50 {
		t.Error("a baseline takes the place of an entry")
	}
	if second := s.browser().page(path+"?page=2", http.StatusOK); second.Find("tr.ghost").Length() != 0 {
		t.Error("the baseline stands on the second page, too")
	}
	resp := s.browser().get(ghost.Find("a").AttrOr("href", ""))
	wantText(t, document(t, resp, http.StatusOK), "main", "Baseline mode")
}

func TestOnlyTheAuthorDownloadsTheSolutions(t *testing.T) {
	s := newScene(t)
	for who, want := range map[*browser]bool{s.browser(): false, s.browserOf(s.ada): false, s.browserOf(s.admin): true} {
		data := body(t, who.get("/tasks/"+s.task.Slug+"/bundle.zip"))
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
