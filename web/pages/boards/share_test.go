package boards_test

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// hostileName is a name with markup and a character that reverses the text direction.
const hostileName = `<script>&"'` + "\u202e"

func TestABadgeIsAnImageOfTheBoardForEveryOrigin(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200/"
	resp := s.Browser().Get(board + "badge.svg")
	if kind, policy := resp.Header.Get("Content-Type"),
		resp.Header.Get("Cross-Origin-Resource-Policy"); !strings.HasPrefix(kind, "image/svg+xml") ||
		policy != "cross-origin" {
		t.Errorf("a badge is %s for %s", kind, policy)
	}
	tag := resp.Header.Get("ETag")
	for path, want := range map[string]string{
		board + "badge.svg": "10.40\u00a0µs", fmt.Sprintf("%sbadge.svg?user=%d", board, s.Ada.ID): "5 of 61, 11.91",
		fmt.Sprintf("/runs/%d/badge.svg", s.Done.ID):   "5, 11.91",
		fmt.Sprintf("/runs/%d/badge.svg", s.Failed.ID): "no score",
	} {
		text := webtest.Body(t, s.Browser().Get(path))
		if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s shows %q (%v), want %q in it", path, text, err, want)
		}
	}
	webtest.WantStatus(t, s.Browser().Get(board+"badge.svg", "If-None-Match", tag), http.StatusNotModified)
	s.Finish(s.Queued, 9e3)
	webtest.WantStatus(t, s.Browser().Get(board+"badge.svg", "If-None-Match", tag), http.StatusOK)
}

func TestFeedsTellOfRecords(t *testing.T) {
	s := webtest.NewScene(t)
	mallory := modelstest.Person(t, s.Cfg.Store, hostileName, accounts.RoleUser)
	s.Finish(s.Submit(mallory, "H200", webtest.GoodKernel), 9e3)
	for path, want := range map[string]int{
		"/tasks/" + s.Task.Slug + "/boards/H200/records.atom": 6,
		"/tasks/" + s.Task.Slug + "/boards/CPU/records.atom":  0,
		"/tasks/" + s.Task.Slug + "/records.atom":             6, fmt.Sprintf("/users/%d/records.atom", mallory.ID): 1,
		fmt.Sprintf("/users/%d/records.atom", s.Ada.ID): 0,
	} {
		var feed struct {
			Updated string `xml:"updated"`
			Entries []struct {
				Title  string `xml:"title"`
				Author string `xml:"author>name"`
				Link   struct {
					Href string `xml:"href,attr"`
				} `xml:"link"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(webtest.Body(t, s.Browser().Get(path))), &feed); err != nil {
			t.Fatal(err)
		}
		if _, err := time.Parse(time.RFC3339, feed.Updated); err != nil || len(feed.Entries) != want {
			t.Errorf("%s has %d entries of %s, want %d", path, len(feed.Entries), feed.Updated, want)
		}
		if want == 0 {
			continue
		}
		newest := feed.Entries[0]
		if !strings.Contains(newest.Author, "<script>") || strings.Contains(newest.Author, "\u202e") ||
			!strings.Contains(newest.Title, "9.000\u00a0µs, Matrix multiply") {
			t.Errorf("%s: the newest is %+v", path, newest)
		}
		webtest.WantStatus(t, s.Browser().Get(strings.TrimPrefix(newest.Link.Href, s.Cfg.Settings.BaseURL)),
			http.StatusOK)
	}
}

func TestShareOfALinkHasTextAndTheCard(t *testing.T) {
	s := webtest.NewScene(t)
	doc := s.Browser().Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK)
	address := doc.Find("meta[property='og:image']").AttrOr("content", "")
	if about := doc.Find("meta[property='og:description']").AttrOr("content", ""); !strings.Contains(about,
		"Best of 61 people: 10.40\u00a0µs.") {
		t.Errorf("a board is described as %q", about)
	}
	run := s.Browser().Page(fmt.Sprintf("/submissions/%d", s.Done.SubmissionID), http.StatusOK)
	if about := run.Find("meta[property='og:description']").AttrOr("content", ""); !strings.Contains(about,
		"µs on H200.") {
		t.Errorf("a submission is described as %q", about)
	}
	for _, path := range []string{strings.TrimPrefix(address, s.Cfg.Settings.BaseURL),
		"/tasks/" + s.Task.Slug + "/boards/H200/card.png", fmt.Sprintf("/runs/%d/card.png", s.Done.ID)} {
		picture, err := png.Decode(s.Browser().Get(path).Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if size := picture.Bounds().Size(); size.X != 1200 || size.Y != 630 {
			t.Errorf("%s is %v", path, size)
		}
	}
}

func TestOnlyTheEmbeddedBoardMayBeFramed(t *testing.T) {
	s := webtest.NewScene(t)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	b := s.BrowserOf(s.Ada)
	resp := b.Get(board + "/embed")
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors *") ||
		resp.Header.Get("X-Frame-Options") != "" {
		t.Errorf("the embedded board is under %s, %s", policy, resp.Header.Get("X-Frame-Options"))
	}
	doc := webtest.Document(t, resp, http.StatusOK)
	webtest.CheckScriptless(t, doc)
	if doc.Find("tbody tr").Length() != 10 || doc.Find("form, script, button").Length() != 0 ||
		strings.Contains(webtest.Words(doc.Find("body")), "you") {
		t.Errorf("the embedded board is %s", webtest.Words(doc.Find("body")))
	}
	if policy := b.Get(board).Header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"frame-ancestors 'none'") {
		t.Errorf("the board itself is under %s", policy)
	}
}

func TestABoardIsDownloadedAndItsSourcesOnlyAfterTheDeadline(t *testing.T) {
	s := webtest.NewScene(t)
	mallory := modelstest.Person(t, s.Cfg.Store, "=HYPERLINK(1)", accounts.RoleUser)
	s.Finish(s.Submit(mallory, "H200", webtest.GoodKernel), 9e3)
	board := "/tasks/" + s.Task.Slug + "/boards/H200/"
	rows, err := csv.NewReader(strings.NewReader(webtest.Body(t, s.Browser().Get(board+"entries.csv")))).ReadAll()
	if err != nil || len(rows) != 63 || rows[1][2] != "'=HYPERLINK(1)" || rows[1][4] != "9000" ||
		rows[0][15] != "error_ulp" || rows[1][15] != "0.499" || rows[1][16] != "5.96e-08" {
		t.Fatalf("the download is %v, %v", rows[:min(len(rows), 2)], err)
	}
	webtest.WantStatus(t, s.BrowserOf(s.Admin).Get(board+"dataset.jsonl"), http.StatusForbidden)
	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	lines := strings.Split(strings.TrimSpace(webtest.Body(t, s.Browser().Get(board+"dataset.jsonl"))), "\n")
	var head struct {
		Licence string
		Entries int
	}
	var first struct {
		Person, Source string
		ScoreNS        float64 `json:"score_ns"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil || head.Licence == "" || head.Entries != 62 ||
		len(lines) != 63 {
		t.Fatalf("%d lines, the first %s: %v", len(lines), lines[0], err)
	}
	if err := json.Unmarshal([]byte(lines[1]), &first); err != nil ||
		!strings.HasPrefix(first.Source, webtest.GoodKernel) || first.ScoreNS != 9e3 {
		t.Errorf("the second line is %s, %v", lines[1], err)
	}
	checkParquet(t, webtest.Body(t, s.Browser().Get(board+"dataset.parquet")), lines)
	doc := s.Browser().Page(strings.TrimSuffix(board, "/"), http.StatusOK)
	webtest.WantStatus(t, s.Browser().Get(webtest.Href(t, doc, "as Parquet")), http.StatusOK)
	webtest.WantText(t, s.Browser().Page(webtest.Href(t, doc, "what the columns are"), http.StatusOK), "main",
		"interval_low_ns")
}

// checkParquet checks that a Parquet file has the same content as the JSON Lines.
func checkParquet(t *testing.T, file string, lines []string) {
	t.Helper()
	opened, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"device": "H200", "entries": "62", "next": ""} {
		if got, ok := opened.Lookup(key); !ok || got != want {
			t.Errorf("the file says %s is %q, want %q", key, got, want)
		}
	}
	if text, _ := opened.Lookup("licence"); !strings.Contains(text, "CC0-1.0") {
		t.Errorf("the file's licence is %q", text)
	}
	names := opened.Schema().Columns()
	rows := opened.RowGroups()[0].Rows()
	defer rows.Close()
	read := make([]parquet.Row, len(lines))
	if n, err := rows.ReadRows(read); n != len(lines)-1 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d rows beside %d lines: %v", n, len(lines), err)
	}
	for i, row := range read[:3] {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i+1]), &line); err != nil {
			t.Fatal(err)
		}
		// the row has no files
		row = slices.DeleteFunc(row, func(v parquet.Value) bool {
			return names[v.Column()][0] == "files" &&
				v.IsNull()
		})
		if len(row) != len(line) {
			t.Errorf("row %d has %d columns, and %d as JSON", i, len(row), len(line))
		}
		for _, value := range row {
			name := names[value.Column()][0]
			if got := asJSON(value, name); got != line[name] {
				t.Errorf("row %d: %s is %v, and %v as JSON", i, name, got, line[name])
			}
		}
	}
}

// asJSON converts a Parquet value to the type that encoding/json decodes it to.
func asJSON(value parquet.Value, name string) any {
	switch {
	case value.IsNull():
		return nil
	case name == "achieved_at":
		return time.UnixMicro(value.Int64()).UTC().Format(time.RFC3339)
	case value.Kind() == parquet.Boolean:
		return value.Boolean()
	case value.Kind() == parquet.Int64:
		return float64(value.Int64())
	case value.Kind() == parquet.Double:
		return value.Double()
	}
	return string(value.ByteArray())
}

func TestAHiddenTaskIsNotSharedEvenByItsOwner(t *testing.T) {
	s := webtest.NewScene(t)
	settings := catalog.TaskSettings{Devices: s.Task.Devices, Visibility: catalog.Hidden}
	if _, err := s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, settings); err != nil {
		t.Fatal(err)
	}
	board := "/tasks/" + s.Task.Slug + "/boards/H200/"
	for _, path := range []string{board + "badge.svg", board + "records.atom", board + "entries.csv", board + "embed",
		board + "dataset.jsonl", board + "dataset.parquet",
		"/tasks/" + s.Task.Slug + "/records.atom", fmt.Sprintf("/runs/%d/badge.svg", s.Done.ID)} {
		webtest.WantStatus(t, s.BrowserOf(s.Admin).Get(path), http.StatusNotFound)
	}
	if feed := webtest.Body(t, s.BrowserOf(s.Admin).Get(fmt.Sprintf("/users/%d/records.atom",
		s.Ada.ID))); strings.Contains(feed, s.Task.Title) {
		t.Errorf("the feed of a person names a hidden task: %s", feed)
	}
}
