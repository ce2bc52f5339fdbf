package boards_test

import (
	"encoding/xml"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// siteMap returns the paths in the sitemap.
func siteMap(s *webtest.Site) (paths []string) {
	s.T.Helper()
	var found struct {
		Addresses []string `xml:"url>loc"`
	}
	if err := xml.Unmarshal([]byte(webtest.Body(s.T, s.Browser().Get("/sitemap.xml"))), &found); err != nil {
		s.T.Fatal(err)
	}
	for _, address := range found.Addresses {
		path, ok := strings.CutPrefix(address, s.Cfg.Settings.BaseURL)
		if !ok {
			s.T.Errorf("the map leads to %s", address)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestCrawlersFindOnlyPublicPages(t *testing.T) {
	s := webtest.NewScene(t)
	hidden := modelstest.Bundle("secret")
	if _, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden},
		Bundle:       hidden}); err != nil {
		t.Fatal(err)
	}
	paths := siteMap(s.Site)
	list := strings.Join(paths, "\n") + "\n"
	for _, want := range []string{"/\n", "/tasks/" + s.Task.Slug + "\n", "/tasks/" + s.Task.Slug + "/boards/H200\n",
		"/docs/measuring\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("the map lacks %q", want)
		}
	}
	if strings.Contains(list, "secret") {
		t.Error("the map names a hidden task")
	}
	robots := webtest.Body(t, s.Browser().Get("/robots.txt"))
	if !strings.Contains(robots, "\nSitemap: "+s.Cfg.Settings.BaseURL+"/sitemap.xml\n") ||
		!strings.Contains(robots, "\nDisallow: /operate\n") {
		t.Errorf("crawlers read %s", robots)
	}
	b := s.Browser()
	for _, path := range paths {
		webtest.WantStatus(t, b.Get(path), http.StatusOK)
		for line := range strings.Lines(robots) {
			if refused, ok := strings.CutPrefix(strings.TrimSpace(line), "Disallow: "); ok &&
				strings.HasPrefix(path, refused) {
				t.Errorf("%s is in the map, and refused as %s", path, refused)
			}
		}
	}
	resp := b.Get("/favicon.ico")
	if picture, err := png.Decode(resp.Body); err != nil || picture.Bounds().Dx() != 64 {
		t.Errorf("the icon: %v", err)
	}
}

func TestRobotsBelowAPathRefuseAddressesOfTheHost(t *testing.T) {
	s := webtest.Start(t, webtest.Below)
	s.URL += webtest.LabPath
	if robots := webtest.Body(t, s.Browser().Get("/robots.txt")); !strings.Contains(robots, "\nDisallow: "+
		webtest.LabPath+"/operate\n") || !strings.Contains(robots, "Sitemap: "+s.Cfg.Settings.BaseURL+"/sitemap.xml") {
		t.Errorf("crawlers read %s", robots)
	}
}

func TestPagesSayWhatTheyAreElsewhere(t *testing.T) {
	s := webtest.NewProfiledScene(t)
	profile, both := webtest.ProfilePath(s.First), fmt.Sprintf("?a=%d&b=%d", s.First.ID, s.Second.ID)
	for _, test := range []struct {
		path, title, feed, json string
	}{
		{"/", "Warpboard", "/records.atom", ""},
		{"/tasks", "Warpboard", "/records.atom", ""},
		{"/tasks/" + s.Task.Slug, s.Task.Title, "/tasks/" + s.Task.Slug + "/records.atom",
			"/api/v1/tasks/" + s.Task.Slug},
		{fmt.Sprintf("/users/%d", s.Ada.ID), s.Ada.Name, fmt.Sprintf("/users/%d/records.atom", s.Ada.ID), ""},
		{"/compare" + both, s.Task.Title, "", "/compare.json" + both},
		{profile, "Profile of " + s.Task.Title, "", profile + ".json"},
		{"/devices", "Queue", "", ""},
		{"/leaderboards", "Leaderboards", "", ""},
		{"/events", "Events", "", ""},
		{"/events/" + s.Event(0).Slug, "", "", ""},
		{"/tasks/" + s.Task.Slug + "/boards/H200", s.Task.Title, "/tasks/" + s.Task.Slug + "/boards/H200/records.atom",
			""},
		{webtest.SubmissionPath(s.First), s.Task.Title, "", ""},
		{"/docs", "", "", ""},
		{"/playground", "Playground", "", ""},
		{"/docs/measuring", "How scores are measured", "", ""},
		{"/trust", "", "", ""},
	} {
		doc := s.Browser().Page(test.path, http.StatusOK)
		meta := func(name string) string { return doc.Find("meta[property='og:"+name+"']").AttrOr("content", "") }
		if !strings.HasPrefix(meta("title"), test.title) || meta("url") != s.Cfg.Settings.BaseURL+test.path ||
			meta("description") == "" {
			t.Errorf("%s is elsewhere %q at %q: %q", test.path, meta("title"), meta("url"), meta("description"))
		}
		alternate := func(kind string) string {
			return doc.Find("link[rel=alternate][type='"+kind+"']").AttrOr("href", "")
		}
		if feed, data := alternate("application/atom+xml"), alternate("application/json"); feed != test.feed ||
			data != test.json {
			t.Errorf("%s leads to %q and %q", test.path, feed, data)
		}
		picture, ok := strings.CutPrefix(meta("image"), s.Cfg.Settings.BaseURL)
		if !ok || s.Browser().Get(picture).Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s has the picture %q", test.path, meta("image"))
		}
		for _, address := range []string{test.feed, test.json} {
			if address != "" {
				webtest.WantStatus(t, s.Browser().Get(address), http.StatusOK)
			}
		}
	}
}

// TestAFeedIsNeverUpdatedInThePast checks that the update time of a feed never decreases, for example after a new
// version removed all records. Otherwise feed readers would ignore later records.
func TestAFeedIsNeverUpdatedInThePast(t *testing.T) {
	s := webtest.NewScene(t)
	feeds := []string{"/tasks/" + s.Task.Slug + "/records.atom", "/tasks/" + s.Task.Slug + "/boards/H200/records.atom"}
	updated := func(path string) time.Time {
		var feed struct {
			Updated time.Time  `xml:"updated"`
			Entries []struct{} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(webtest.Body(t, s.Browser().Get(path))), &feed); err != nil {
			t.Fatal(err)
		}
		return feed.Updated
	}
	if _, err := s.Cfg.Store.SQL().ExecContext(t.Context(),
		"update tasks set created_at = '2020-01-01 00:00:00+00:00'"); err != nil {
		t.Fatal(err)
	}
	var before []time.Time
	for _, path := range feeds {
		before = append(before, updated(path))
	}
	bundle, err := s.Cfg.Store.Catalog.Bundle(t.Context(), s.Task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	bundle.Definition.Benchmarks[0][0].Value = "77"
	if _, change, err := s.Cfg.Store.Catalog.Publish(t.Context(), s.Admin, s.Task.ID, bundle, nil); err != nil ||
		change != catalog.ChangeVersion {
		t.Fatal(change, err)
	}
	for i, path := range feeds {
		if now := updated(path); now.Before(before[i]) {
			t.Errorf("%s was updated at %v, and is now of %v", path, before[i], now)
		}
	}
}
