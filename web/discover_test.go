package web

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
)

// siteMap reads the addresses of the site's map, below the site's own address.
func (s *testSite) siteMap() (paths []string) {
	s.t.Helper()
	var found struct {
		Addresses []string `xml:"url>loc"`
	}
	if err := xml.Unmarshal([]byte(body(s.t, s.browser().get("/sitemap.xml"))), &found); err != nil {
		s.t.Fatal(err)
	}
	for _, address := range found.Addresses {
		path, ok := strings.CutPrefix(address, s.site.Settings.BaseURL)
		if !ok {
			s.t.Errorf("the map leads to %s", address)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestCrawlersFindOnlyPublicPages(t *testing.T) {
	s := newScene(t)
	hidden := modelstest.Bundle("secret")
	if _, err := s.site.Store.Catalog.CreateTask(t.Context(), s.admin, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}, Bundle: hidden}); err != nil {
		t.Fatal(err)
	}
	paths := s.siteMap()
	list := strings.Join(paths, "\n") + "\n"
	for _, want := range []string{"/\n", "/tasks/" + s.task.Slug + "\n", "/tasks/" + s.task.Slug + "/boards/H200\n", "/docs/measuring\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("the map lacks %q", want)
		}
	}
	if strings.Contains(list, "secret") {
		t.Error("the map names a hidden task")
	}
	robots := body(t, s.browser().get("/robots.txt"))
	if !strings.Contains(robots, "\nSitemap: "+s.site.Settings.BaseURL+"/sitemap.xml\n") || !strings.Contains(robots, "\nDisallow: /operate\n") {
		t.Errorf("crawlers read %s", robots)
	}
	b := s.browser()
	for _, path := range paths {
		wantStatus(t, b.get(path), http.StatusOK)
		for line := range strings.Lines(robots) {
			if refused, ok := strings.CutPrefix(strings.TrimSpace(line), "Disallow: "); ok && strings.HasPrefix(path, refused) {
				t.Errorf("%s is in the map, and refused as %s", path, refused)
			}
		}
	}
	resp := b.get("/favicon.ico")
	if picture, err := png.Decode(resp.Body); err != nil || picture.Bounds().Dx() != 64 {
		t.Errorf("the icon: %v", err)
	}
}

func TestRobotsBelowAPathRefuseAddressesOfTheHost(t *testing.T) {
	s := startSite(t, below)
	s.url += labPath
	if robots := body(t, s.browser().get("/robots.txt")); !strings.Contains(robots, "\nDisallow: "+labPath+"/operate\n") || !strings.Contains(robots, "Sitemap: "+s.site.Settings.BaseURL+"/sitemap.xml") {
		t.Errorf("crawlers read %s", robots)
	}
}

func TestPagesSayWhatTheyAreElsewhere(t *testing.T) {
	s := newProfiledScene(t)
	profile, both := profilePath(s.first), fmt.Sprintf("?a=%d&b=%d", s.first.ID, s.second.ID)
	for _, test := range []struct {
		path, title, feed, json string
		image                   bool
	}{
		{"/", "Warpboard", "/records.atom", "", false},
		{"/tasks", "Warpboard", "/records.atom", "", false},
		{"/tasks/" + s.task.Slug, s.task.Title, "/tasks/" + s.task.Slug + "/records.atom", "/api/v1/tasks/" + s.task.Slug, true},
		{fmt.Sprintf("/users/%d", s.ada.ID), s.ada.Name, fmt.Sprintf("/users/%d/records.atom", s.ada.ID), "", false},
		{"/compare" + both, s.task.Title, "", "/compare.json" + both, true},
		{profile, "Profile of " + s.task.Title, "", profile + ".json", true},
		{"/devices", "Devices", "", "", false},
		{"/docs/measuring", "How scores are measured", "", "", false},
		{"/trust", "", "", "", false},
	} {
		doc := s.browser().page(test.path, http.StatusOK)
		meta := func(name string) string { return doc.Find("meta[property='og:"+name+"']").AttrOr("content", "") }
		if !strings.HasPrefix(meta("title"), test.title) || meta("url") != s.site.Settings.BaseURL+test.path || meta("description") == "" {
			t.Errorf("%s is elsewhere %q at %q: %q", test.path, meta("title"), meta("url"), meta("description"))
		}
		alternate := func(kind string) string {
			return doc.Find("link[rel=alternate][type='"+kind+"']").AttrOr("href", "")
		}
		if feed, data := alternate("application/atom+xml"), alternate("application/json"); feed != test.feed || data != test.json {
			t.Errorf("%s leads to %q and %q", test.path, feed, data)
		}
		if image := meta("image"); (image != "") != test.image {
			t.Errorf("%s has the picture %q", test.path, image)
		}
		for _, address := range []string{test.feed, test.json, strings.TrimPrefix(meta("image"), s.site.Settings.BaseURL)} {
			if address != "" {
				wantStatus(t, s.browser().get(address), http.StatusOK)
			}
		}
	}
}

// TestAFeedIsNeverUpdatedInThePast: a reader that saw a record takes no feed for new that is older.
func TestAFeedIsNeverUpdatedInThePast(t *testing.T) {
	s := newScene(t)
	feeds := []string{"/tasks/" + s.task.Slug + "/records.atom", "/tasks/" + s.task.Slug + "/boards/H200/records.atom"}
	updated := func(path string) time.Time {
		var feed struct {
			Updated time.Time  `xml:"updated"`
			Entries []struct{} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(body(t, s.browser().get(path))), &feed); err != nil {
			t.Fatal(err)
		}
		return feed.Updated
	}
	if _, err := s.site.Store.SQL().ExecContext(t.Context(), "update tasks set created_at = '2020-01-01 00:00:00+00:00'"); err != nil {
		t.Fatal(err)
	}
	var before []time.Time
	for _, path := range feeds {
		before = append(before, updated(path))
	}
	bundle, err := s.site.Store.Catalog.Bundle(t.Context(), s.task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	bundle.Definition.Benchmarks[0][0].Value = "77"
	if _, change, err := s.site.Store.Catalog.Publish(t.Context(), s.admin, s.task.ID, bundle, nil); err != nil || change != catalog.ChangeVersion {
		t.Fatal(change, err)
	}
	for i, path := range feeds {
		if now := updated(path); now.Before(before[i]) {
			t.Errorf("%s was updated at %v, and is now of %v", path, before[i], now)
		}
	}
}
