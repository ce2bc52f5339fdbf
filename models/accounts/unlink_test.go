package accounts_test

import (
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

// annWithTwoWays creates two users, Ann and Ben. Ann has two identities to sign in with, which are returned as ways.
func annWithTwoWays(t *testing.T, s *models.Store) (ann, ben accounts.User, ways []accounts.Identity) {
	t.Helper()
	ctx := t.Context()
	ann = modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
		accounts.ProviderSignIn{Provider: "github", Subject: "1", Name: "Ann"}))
	ben = modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
		accounts.ProviderSignIn{Provider: "github", Subject: "2", Name: "Ben"}))
	modelstest.Check(t, s.Accounts.LinkIdentity(ctx, ann.ID,
		accounts.ProviderSignIn{Provider: "google", Subject: "g", Name: "Ann"}))
	ways = modelstest.Got[[]accounts.Identity](t)(s.Accounts.Identities(ctx, ann.ID))
	return ann, ben, ways
}

func TestLastWayToSignInStays(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		ann, ben, ways := annWithTwoWays(t, s)

		modelstest.WantKind(t, s.Accounts.UnlinkIdentity(ctx, ben.ID, ways[0].ID, 0), db.NotFound)
		modelstest.Check(t, s.Accounts.UnlinkIdentity(ctx, ann.ID, ways[0].ID, 0))
		modelstest.WantKind(t, s.Accounts.UnlinkIdentity(ctx, ann.ID, ways[0].ID, 0), db.NotFound)
		modelstest.WantKind(t, s.Accounts.UnlinkIdentity(ctx, ann.ID, ways[1].ID, 0), db.Conflict)

		if u := modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
			accounts.ProviderSignIn{Provider: "google", Subject: "g"})); u.ID != ann.ID {
			t.Error("the way that is left opens another account")
		}
		if u := modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
			accounts.ProviderSignIn{Provider: "github", Subject: "1", Name: "Ann"})); u.ID == ann.ID {
			t.Error("the removed way still opens the account")
		}
	})
}

func TestRemovingAWayToSignInEndsTheOtherSessions(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		ann, ben, ways := annWithTwoWays(t, s)
		begin := func(user accounts.User, provider string) (string, accounts.Session) {
			secret, session, err := s.Accounts.StartSession(ctx,
				accounts.NewSession{UserID: user.ID, Provider: provider, Lifetime: time.Hour})
			modelstest.Check(t, err)
			return secret, session
		}
		here, kept := begin(ann, "google")
		gone, _ := begin(ann, "github")
		other, _ := begin(ben, "github")
		live := func(secret string) error { _, _, err := s.Accounts.SessionUser(ctx, secret); return err }

		modelstest.WantKind(t, s.Accounts.UnlinkIdentity(ctx, ann.ID, 0, kept.ID), db.NotFound)
		modelstest.Check(t, live(gone)) // nothing was removed
		modelstest.Check(t, s.Accounts.UnlinkIdentity(ctx, ann.ID, ways[0].ID, kept.ID))
		modelstest.WantKind(t, live(gone), db.NotFound)
		modelstest.Check(t, live(here))
		modelstest.Check(t, live(other))
		modelstest.WantKind(t, s.Accounts.UnlinkIdentity(ctx, ann.ID, ways[1].ID, 0), db.Conflict)
		modelstest.Check(t, live(here))
	})
}
