package models_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

func TestAccountsAreJoinedByProviderAndSubjectOnly(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		ann := got[accounts.User](t)(s.Accounts.SignIn(ctx, accounts.SignIn{Provider: "github", Subject: "1", Name: "Ann", Email: "ann@example.org"}))
		second := got[accounts.User](t)(s.Accounts.SignIn(ctx, accounts.SignIn{Provider: "github", Subject: "1", Name: "Renamed", Email: "new@example.org"}))
		if second.ID != ann.ID || second.Email != "new@example.org" || second.Name != "Ann" {
			t.Errorf("second sign-in gave %+v", second)
		}
		thief := got[accounts.User](t)(s.Accounts.SignIn(ctx, accounts.SignIn{Provider: "gitlab", Subject: "1", Name: "ANN", Email: "new@example.org"}))
		if thief.ID == ann.ID {
			t.Error("the same e-mail address at another provider opened the account")
		}
		if thief.Name != "ANN-2" {
			t.Errorf("the second Ann is called %q", thief.Name)
		}
		check(t, s.Accounts.Link(ctx, ann.ID, accounts.SignIn{Provider: "google", Subject: "g", Name: "Ann"}))
		wantKind(t, s.Accounts.Link(ctx, thief.ID, accounts.SignIn{Provider: "google", Subject: "g", Name: "Ann"}), db.Conflict)
		if u := got[accounts.User](t)(s.Accounts.SignIn(ctx, accounts.SignIn{Provider: "google", Subject: "g"})); u.ID != ann.ID {
			t.Error("a linked identity opens another account")
		}
		if ids, err := s.Accounts.Identities(ctx, ann.ID); err != nil || len(ids) != 2 {
			t.Errorf("Identities: %v, %v", ids, err)
		}
		_, err := s.Accounts.SignIn(ctx, accounts.SignIn{Provider: "github"})
		wantKind(t, err, db.Invalid)
		site, again := got[accounts.User](t)(s.Accounts.Operator(ctx)), got[accounts.User](t)(s.Accounts.Operator(ctx))
		if site.ID != again.ID || !site.MayCreate() {
			t.Errorf("the site's own account: %+v, then %+v", site, again)
		}
	})
}

func TestNamesAreVisibleAndUnique(t *testing.T) {
	for in, want := range map[string]string{
		"  Ann   B. ": "Ann B.", "\u202eevil\x00": "evil", "\xff": "", "日本": "日本",
		"Ann\u3164": "Ann", "A\ufe0fn\u034fn\u200b": "Ann", "\u115f\u2800\uffa0": "", "Zoe\u0308": "Zoe\u0308",
		"0123456789012345678901234567890123456789":    "0123456789012345678901234567890123456789",
		"0123456789012345678901234567890123456789xyz": "012345678901234567890123456789012345678…", // cut, and says so
	} {
		if got := accounts.CleanName(in); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
	}
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		wantKind(t, second(s.Rename(t.Context(), w.ben, w.ben.ID, "aNN")), db.Conflict)
		wantKind(t, second(s.Rename(t.Context(), w.ben, w.ben.ID, " \n")), db.Invalid)
		check(t, second(s.Rename(t.Context(), w.ben, w.ben.ID, "100% Ben_")))
		users, err := s.Accounts.Users(t.Context(), w.admin, "0% ben_", 0, 10)
		if err != nil || len(users) != 1 || users[0].ID != w.ben.ID {
			t.Errorf("Users: %v, %v", users, err)
		}
		if users, err := s.Accounts.Users(t.Context(), w.admin, "n%", 0, 10); err != nil || len(users) != 0 {
			t.Errorf("a percent sign in a search matched %v, %v", users, err)
		}
	})
}

func TestOnlyAdminsChangeRolesAndNeverTheirOwn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		wantKind(t, s.Accounts.SetRole(ctx, w.ann, w.ben.ID, accounts.RoleAdmin), db.Forbidden)
		wantKind(t, s.Accounts.SetRole(ctx, w.admin, w.admin.ID, accounts.RoleUser), db.Forbidden)
		wantKind(t, s.Accounts.SetRole(ctx, w.admin, w.ann.ID, "king"), db.Invalid)
		wantKind(t, s.Accounts.SetRole(ctx, w.admin, 999, accounts.RoleCreator), db.NotFound)
		check(t, s.Accounts.SetRole(ctx, w.admin, w.ann.ID, accounts.RoleCreator))
		if u := got[accounts.User](t)(s.Accounts.User(ctx, w.ann.ID)); !u.MayCreate() || u.IsAdmin() {
			t.Errorf("Ann is now %q", u.Role)
		}
		audits, err := s.Accounts.Audits(ctx, w.admin, "", 0, 10)
		if err != nil || len(audits) != 2 || audits[0].Act != "set role" || audits[0].Detail != "creator" || audits[0].ActorName != "Root" {
			t.Errorf("Audits: %+v, %v", audits, err)
		}
	})
}

func TestWhenASessionEnds(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		start := func(life time.Duration) (string, accounts.Session) {
			secret, session, err := s.Accounts.StartSession(ctx, accounts.NewSession{UserID: w.ann.ID, Provider: "github", UserAgent: "x\x00y", Life: life})
			check(t, err)
			return secret, session
		}
		expired, _ := start(-time.Second)
		one, session := start(time.Hour)
		two, kept := start(time.Hour)
		if _, u, err := s.Accounts.SessionUser(ctx, one); err != nil || u.ID != w.ann.ID {
			t.Errorf("SessionUser: %v, %v", u, err)
		}
		if list, err := s.Accounts.Sessions(ctx, w.ann.ID); err != nil || len(list) != 2 || list[0].SecretHash == two {
			t.Errorf("Sessions: %v, %v", list, err)
		}
		check(t, s.Accounts.EndSession(ctx, w.ben.ID, session.ID))
		if _, _, err := s.Accounts.SessionUser(ctx, one); err != nil {
			t.Errorf("someone else ended the session: %v", err)
		}
		check(t, s.Accounts.EndOtherSessions(ctx, w.ann.ID, kept.ID))
		for _, secret := range []string{expired, one, "", "no secret"} {
			_, _, err := s.Accounts.SessionUser(ctx, secret)
			wantKind(t, err, db.NotFound)
		}
		check(t, s.Accounts.SetBlocked(ctx, w.admin, w.ann.ID, true))
		_, _, err := s.Accounts.SessionUser(ctx, two)
		wantKind(t, err, db.NotFound)
		_, err = s.Accounts.SignIn(ctx, accounts.SignIn{Provider: "test", Subject: "Ann"})
		wantKind(t, err, db.Forbidden)
		check(t, s.Accounts.SetBlocked(ctx, w.admin, w.ann.ID, false))
		if _, _, err := s.Accounts.SessionUser(ctx, two); err != nil {
			t.Errorf("allowed again, but: %v", err)
		}
	})
}

func TestWhenATokenEnds(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		secret, token, err := s.Accounts.CreateToken(ctx, w.ann.ID, "laptop", 0)
		check(t, err)
		old, _, err := s.Accounts.CreateToken(ctx, w.ann.ID, "old", time.Nanosecond)
		check(t, err)
		_, _, err = s.Accounts.CreateToken(ctx, w.ann.ID, " ", 0)
		wantKind(t, err, db.Invalid)
		_, _, err = s.Accounts.TokenUser(ctx, old)
		wantKind(t, err, db.NotFound)
		got, user, err := s.Accounts.TokenUser(ctx, secret)
		if err != nil || user.ID != w.ann.ID || got.ID != token.ID || got.UsedAt == nil {
			t.Errorf("TokenUser: %+v, %v, %v", got, user, err)
		}
		if diff := cmp.Diff(secret[:9], got.Prefix); diff != "" {
			t.Error(diff)
		}
		check(t, s.Accounts.SetBlocked(ctx, w.admin, w.ann.ID, true))
		wantKind(t, third(s.Accounts.TokenUser(ctx, secret)), db.NotFound)
		check(t, s.Accounts.SetBlocked(ctx, w.admin, w.ann.ID, false))
		check(t, third(s.Accounts.TokenUser(ctx, secret)))
		wantKind(t, s.Accounts.RevokeToken(ctx, w.ben.ID, token.ID), db.NotFound)
		check(t, s.Accounts.RevokeToken(ctx, w.ann.ID, token.ID))
		_, _, err = s.Accounts.TokenUser(ctx, secret)
		wantKind(t, err, db.NotFound)
		if list, err := s.Accounts.Tokens(ctx, w.ann.ID); err != nil || len(list) != 2 || list[1].RevokedAt == nil {
			t.Errorf("Tokens: %+v, %v", list, err)
		}
	})
}

func TestAPersonHasSoManyTokens(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		person := modelstest.Person(t, s, "ada", accounts.RoleUser)
		made := 0
		fill := func() (err error) {
			for made < 1000 && err == nil {
				if _, _, err = s.Accounts.CreateToken(t.Context(), person.ID, "t", 0); err == nil {
					made++
				}
			}
			return err
		}
		wantKind(t, fill(), db.Conflict)
		if made != 50 {
			t.Errorf("%d tokens of one person work", made)
		}
		tokens := got[[]accounts.Token](t)(s.Accounts.Tokens(t.Context(), person.ID))
		check(t, s.Accounts.RevokeToken(t.Context(), person.ID, tokens[0].ID))
		if wantKind(t, fill(), db.Conflict); made != 51 {
			t.Errorf("after one was revoked %d were made", made)
		}
		for made < 100 { // made and revoked in a loop
			tokens := got[[]accounts.Token](t)(s.Accounts.Tokens(t.Context(), person.ID))
			check(t, s.Accounts.RevokeToken(t.Context(), person.ID, tokens[0].ID))
			fill()
		}
		tokens = got[[]accounts.Token](t)(s.Accounts.Tokens(t.Context(), person.ID))
		check(t, s.Accounts.RevokeToken(t.Context(), person.ID, tokens[0].ID))
		if wantKind(t, fill(), db.TooMany); made != 100 {
			t.Errorf("%d were made in a day", made)
		}
		check(t, third(s.Accounts.CreateToken(t.Context(), modelstest.Person(t, s, "bob", accounts.RoleUser).ID, "t", 0)))
	})
}
