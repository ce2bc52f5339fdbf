package operation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestTheAuditLogNamesPeople(t *testing.T) {
	s := webtest.NewScene(t)
	eve := modelstest.Person(t, s.Cfg.Store, "Eve", accounts.RoleUser)
	if err := s.Cfg.Store.Accounts.SetRole(t.Context(), s.Admin, eve.ID, accounts.RoleCreator); err != nil {
		t.Fatal(err)
	}
	line := s.BrowserOf(s.Admin).Page("/audit?q="+url.QueryEscape(s.Admin.Name), http.StatusOK).Find("tbody tr").First()
	if text := webtest.Words(line); !strings.Contains(text, "Eve") || strings.Contains(text, "user ") {
		t.Errorf("the log says %q", text)
	}
}
