package pages_test

import (
	"net/http"
	"testing"

	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestAHiddenTaskIsMarkedAndPublishedOnItsPage by those who may edit it.
func TestAHiddenTaskIsMarkedAndPublishedOnItsPage(t *testing.T) {
	s := webtest.NewScene(t)
	admin, path := s.BrowserOf(s.Admin), "/tasks/"+s.Task.Slug
	if admin.Page(path, http.StatusOK).Find("form[action$='/publish']").Length() != 0 {
		t.Error("a public task offers to publish it")
	}
	settings := s.Task.Settings()
	settings.Visibility = catalog.Hidden
	modelstest.Got[catalog.Task](t)(s.Cfg.Store.Catalog.UpdateTask(t.Context(), s.Admin, s.Task.ID, settings))
	doc := admin.Page(path, http.StatusOK)
	webtest.WantText(t, doc, ".meta .tag", "hidden")
	form := doc.Find("form[action$='/publish']")
	webtest.WantText(t, doc, "form[action$='/publish'] button", "Publish")
	webtest.WantStatus(t, admin.Post(form.AttrOr("action", ""), webtest.Fields(form)), http.StatusOK)
	s.BrowserOf(s.Ada).Page(path, http.StatusOK)
}
