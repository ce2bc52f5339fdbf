package web

import (
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

// TestATokenIsRevokedOverTheAPI: each person's own alone, at once; and each answer names the site's version.
func TestATokenIsRevokedOverTheAPI(t *testing.T) {
	s := startSite(t)
	person := modelstest.Person(t, s.site.Store, "ada", accounts.RoleUser)
	ada, laptop := s.api(person), s.api(person)
	eve := s.api(modelstest.Person(t, s.site.Store, "eve", accounts.RoleUser))
	all, err := ada.Tokens(t.Context())
	if err != nil || len(all) != 2 || all[0].Current || !all[1].Current {
		t.Fatalf("%+v, %v: want two, the older of which asks", all, err)
	}
	if err := eve.RevokeToken(t.Context(), all[0].ID); code(err) != "not_found" {
		t.Errorf("another person's: %v", err)
	}
	if err := ada.RevokeToken(t.Context(), all[0].ID); err != nil {
		t.Error(err)
	}
	if _, err := laptop.Me(t.Context()); code(err) != "unauthorized" {
		t.Errorf("a revoked token: %v", err)
	}
	if left, err := ada.Tokens(t.Context()); err != nil || len(left) != 1 || ada.SiteVersion() != "test" {
		t.Errorf("%+v, %v, of a site of version %q", left, err, ada.SiteVersion())
	}
	if _, err := s.api(accounts.User{}).Tokens(t.Context()); code(err) != "unauthorized" {
		t.Errorf("a visitor's: %v", err)
	}
}
