package authoring_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/web/webtest"
)

// drafted creates the draft "Rows" from a starter as a new creator, and runs nothing.
func drafted(t *testing.T, s *webtest.Scene) *webtest.Browser {
	t.Helper()
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	const begin = "/tasks/new/vectoradd_cpp"
	webtest.WantStatus(t, sends(creator, t, creator.Page(begin, http.StatusOK), begin, func(f url.Values) {
		f.Set("title", "Rows")
		f.Set("do", "save")
	}), http.StatusOK)
	return creator
}

func TestTryItsSolutionsStartsATrial(t *testing.T) {
	s := webtest.NewScene(t)
	creator := drafted(t, s)
	doc := creator.Page("/tasks/rows/trial", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-summary]", "Not tried yet. “Try it” runs all solutions.")
	webtest.WantText(t, doc, "form[action='/tasks/rows/trial'] .btn-main", "Try it")
	edit := creator.Page("/tasks/rows/edit", http.StatusOK)
	webtest.WantText(t, edit, "form[action='/tasks/rows/trial'] button", "Try its solutions")
	resp := creator.Post("/tasks/rows/trial", nil)
	if at := resp.Request.URL.Path; at != "/tasks/rows/trial" {
		t.Errorf("trying leads to %s", at)
	}
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "[data-summary]", "0 of 12 finished")
}

func TestATrialWithoutAWorkerNamesTheReason(t *testing.T) {
	s := webtest.NewScene(t)
	creator := drafted(t, s)
	s.SQL("update workers set seen_at = '2020-01-01 00:00:00'")
	webtest.WantText(t, webtest.Document(t, creator.Post("/tasks/rows/trial", nil), http.StatusOK), "[data-summary]",
		"no worker serves a device of the task right now")
}

// TestADraftIsPublishedByNothingButPublish checks that the settings form cannot publish a draft, not even with a
// visibility, and that the Publish button says that the draft was not tried.
func TestADraftIsPublishedByNothingButPublish(t *testing.T) {
	s := webtest.NewScene(t)
	creator := drafted(t, s)
	edit := creator.Page("/tasks/rows/edit", http.StatusOK)
	webtest.WantText(t, edit, "[data-draft-task]",
		"This is a draft: only you and admins see it. Try it, then publish it")
	if edit.Find("input[name=visibility]").Length() != 0 {
		t.Error("the settings of a draft publish it")
	}
	form := webtest.Fields(edit.Find("form[action='/tasks/rows/edit']"))
	form.Set("visibility", "public")
	webtest.WantStatus(t, creator.Post("/tasks/rows/edit", form), http.StatusOK)
	if task, _ := taskNow(s, "rows"); task.Visibility != catalog.Hidden {
		t.Fatalf("saving the settings made the draft %s", task.Visibility)
	}
	form.Set("title", "Columns")
	webtest.WantStatus(t, creator.Post("/tasks/rows/edit", form), http.StatusOK)
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/audit", http.StatusOK), "main", "title: Rows → Columns")
	trial := creator.Page("/tasks/rows/trial", http.StatusOK)
	publish := trial.Find("form[action='/tasks/rows/trial/publish']")
	webtest.WantText(t, trial, "form[action='/tasks/rows/trial/publish'] button:not(.btn-main)", "Publish untried")
	form = webtest.Fields(publish)
	if form.Get("visibility") != "public" {
		t.Errorf("the form begins with %q", form.Get("visibility"))
	}
	form.Set("visibility", "members")
	webtest.WantText(t, webtest.Document(t, creator.Post("/tasks/rows/trial/publish", form), http.StatusOK),
		"[role=status]", "Members can see the task now")
	if task, _ := taskNow(s, "rows"); task.Visibility != catalog.Members {
		t.Errorf("published as %s", task.Visibility)
	}
}

func TestAnUploadIsTriedAsADraftBeforeItIsPublished(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", "add.zip", webtest.ZipOf(t, webtest.UnchangedBundle),
		nil), http.StatusOK)
	webtest.WantText(t, doc, "main form .btn-main", "Save as a draft and try it")
	form := webtest.Fields(doc.Find("main form"))
	form.Set("do", "try")
	resp := creator.Upload("/tasks/publish", "", "", nil, form)
	if at := resp.Request.URL.Path; at != "/tasks/add-two/trial" {
		t.Fatalf("trying an upload leads to %s", at)
	}
	webtest.WantText(t, webtest.Document(t, resp, http.StatusOK), "[data-summary]", "finished")
	if task, _ := taskNow(s, "add-two"); task.Visibility != catalog.Hidden {
		t.Errorf("the upload is %s", task.Visibility)
	}
}

// TestChangesOfAPublishedTaskAreKeptAndTried checks that only editors see unpublished changes, that they do not affect
// the boards, and that publishing keeps the results of their trial.
func TestChangesOfAPublishedTaskAreKeptAndTried(t *testing.T) {
	s := webtest.NewScene(t)
	creator, path := drafted(t, s), "/tasks/rows/files"
	webtest.WantStatus(t, creator.Post("/tasks/rows/trial/publish", nil), http.StatusOK)
	_, before := taskNow(s, "rows")
	change := func(do string) func(url.Values) {
		return func(f url.Values) {
			at := slices.Index(f["path"], "task.yml")
			f["text"][at] = strings.Replace(f["text"][at], "65537", "65539", 1)
			f.Set("do", do)
		}
	}
	tried := sends(creator, t, creator.Page(path, http.StatusOK), path, change(""))
	if at := tried.Request.URL.Path; at != "/tasks/rows/trial" {
		t.Fatalf("trying the changes leads to %s", at)
	}
	doc := webtest.Document(t, tried, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-summary]", "0 of 12 finished")
	webtest.WantText(t, doc, "main", "65539")
	if _, now := taskNow(s, "rows"); now.ID != before.ID {
		t.Fatalf("trying published version %d", now.Number)
	}
	webtest.WantText(t, creator.Page("/tasks/rows", http.StatusOK), "main", "65537")
	creator.Page("/tasks/rows/boards/CPU?version=0", http.StatusNotFound)
	// hidden from visitors, because it has the unpublished cases
	s.Browser().Page(webtest.Href(t, doc, "the starter"), http.StatusNotFound)
	creator.Page(webtest.Href(t, doc, "the starter"), http.StatusOK)

	files := creator.Page(path, http.StatusOK)
	webtest.CheckSound(t, files)
	webtest.WantText(t, files, "[data-unpublished]", "These are your unpublished changes.")
	webtest.WantText(t, files, "textarea", "65539")
	changes := creator.Page("/tasks/rows/changes", http.StatusOK)
	webtest.CheckSound(t, changes)
	webtest.WantText(t, changes, "[data-change] ins", "65539")
	form := webtest.Fields(changes.Find("form[action='/tasks/rows/publish']"))
	form.Set("do", "edit")
	webtest.WantText(t, webtest.Document(t, creator.Upload("/tasks/rows/publish", "", "", nil, form), http.StatusOK),
		"textarea", "65539")
	form.Del("do")
	webtest.WantStatus(t, creator.Upload("/tasks/rows/publish", "", "", nil, form), http.StatusOK)
	if _, now := taskNow(s, "rows"); now.Number != 2 {
		t.Errorf("publishing made version %d", now.Number)
	}
	// Publishing keeps the trial of the version.
	webtest.WantText(t, creator.Page("/tasks/rows/trial", http.StatusOK), "[data-summary]", "0 of 12 finished")
	if creator.Page(path, http.StatusOK).Find("[data-unpublished]").Length() != 0 {
		t.Error("published changes are still unpublished")
	}
}

func TestUnpublishedChangesCanBeDiscarded(t *testing.T) {
	s := webtest.NewScene(t)
	owner, path := s.BrowserOf(s.Admin), "/tasks/"+s.Task.Slug
	webtest.WantStatus(t, sends(owner, t, owner.Page(path+"/files", http.StatusOK), path+"/files", func(f url.Values) {
		f["text"][0] += "# changed\n"
		f.Set("do", "save")
	}), http.StatusOK)
	kept := owner.Page(path+"/files", http.StatusOK)
	webtest.WantText(t, kept, "textarea", "# changed")
	discard := path + "/changes/discard"
	webtest.WantStatus(t, s.SignedIn("Ben", accounts.RoleCreator).Post(discard, nil), http.StatusForbidden)
	webtest.WantText(t, webtest.Document(t, owner.Post(discard, nil), http.StatusOK), "[role=status]", "Discarded.")
	if text := owner.Page(path+"/files", http.StatusOK).Find("textarea").Text(); strings.Contains(text, "# changed") {
		t.Error("the changes are still there")
	}
	if at := owner.Get(path + "/changes").Request.URL.Path; at != path+"/files" {
		t.Errorf("the changes of nothing are at %s", at)
	}
}
