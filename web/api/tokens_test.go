package api_test

import (
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestATokenIsRevokedOverTheAPI checks that people can revoke only their own tokens, that the revocation takes effect
// at once, and that responses contain the site's version.
func TestATokenIsRevokedOverTheAPI(t *testing.T) {
	s := webtest.Start(t)
	person := modelstest.Person(t, s.Cfg.Store, "ada", accounts.RoleUser)
	ada, laptop := s.API(person), s.API(person)
	eve := s.API(modelstest.Person(t, s.Cfg.Store, "eve", accounts.RoleUser))
	all, err := ada.Tokens(t.Context())
	if err != nil || len(all) != 2 || all[0].UsedByThisRequest || !all[1].UsedByThisRequest {
		t.Fatalf("%+v, %v: want two, the older of which asks", all, err)
	}
	if err := eve.RevokeToken(t.Context(), all[0].ID); webtest.Code(err) != "not_found" {
		t.Errorf("another person's: %v", err)
	}
	if err := ada.RevokeToken(t.Context(), all[0].ID); err != nil {
		t.Error(err)
	}
	if _, err := laptop.CurrentUser(t.Context()); webtest.Code(err) != "unauthorized" {
		t.Errorf("a revoked token: %v", err)
	}
	if left, err := ada.Tokens(t.Context()); err != nil || len(left) != 1 || ada.SiteVersion() != "test" {
		t.Errorf("%+v, %v, of a site of version %q", left, err, ada.SiteVersion())
	}
	if _, err := s.API(accounts.User{}).Tokens(t.Context()); webtest.Code(err) != "unauthorized" {
		t.Errorf("a visitor's: %v", err)
	}
}
