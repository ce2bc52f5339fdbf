package models_test

import (
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/modelstest"
)

// annWithTwoWays signs in Ann, who has two ways to, and Ben.
func annWithTwoWays(t *testing.T, s *models.Store) (ann, ben models.User, ways []models.Identity) {
	t.Helper()
	ctx := t.Context()
	ann = got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "github", Subject: "1", Name: "Ann"}))
	ben = got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "github", Subject: "2", Name: "Ben"}))
	check(t, s.Link(ctx, ann.ID, models.SignIn{Provider: "google", Subject: "g", Name: "Ann"}))
	ways = got[[]models.Identity](t)(s.Identities(ctx, ann.ID))
	return ann, ben, ways
}

func TestLastWayToSignInStays(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		ann, ben, ways := annWithTwoWays(t, s)

		wantKind(t, s.Unlink(ctx, ben.ID, ways[0].ID, 0), models.NotFound)
		check(t, s.Unlink(ctx, ann.ID, ways[0].ID, 0))
		wantKind(t, s.Unlink(ctx, ann.ID, ways[0].ID, 0), models.NotFound)
		wantKind(t, s.Unlink(ctx, ann.ID, ways[1].ID, 0), models.Conflict)

		if u := got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "google", Subject: "g"})); u.ID != ann.ID {
			t.Error("the way that is left opens another account")
		}
		if u := got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "github", Subject: "1", Name: "Ann"})); u.ID == ann.ID {
			t.Error("the removed way still opens the account")
		}
	})
}

func TestRemovingAWayToSignInEndsTheOtherSessions(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		ann, ben, ways := annWithTwoWays(t, s)
		begin := func(user models.User, provider string) (string, models.Session) {
			secret, session, err := s.StartSession(ctx, models.NewSession{UserID: user.ID, Provider: provider, Life: time.Hour})
			check(t, err)
			return secret, session
		}
		here, kept := begin(ann, "google")
		gone, _ := begin(ann, "github")
		other, _ := begin(ben, "github")
		live := func(secret string) error { _, _, err := s.SessionUser(ctx, secret); return err }

		wantKind(t, s.Unlink(ctx, ann.ID, 0, kept.ID), models.NotFound)
		check(t, live(gone)) // nothing was removed
		check(t, s.Unlink(ctx, ann.ID, ways[0].ID, kept.ID))
		wantKind(t, live(gone), models.NotFound)
		check(t, live(here))
		check(t, live(other))
		wantKind(t, s.Unlink(ctx, ann.ID, ways[1].ID, 0), models.Conflict)
		check(t, live(here))
	})
}
