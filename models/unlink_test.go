package models_test

import (
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
)

func TestLastWayToSignInStays(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		ann := got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "github", Subject: "1", Name: "Ann"}))
		ben := got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "github", Subject: "2", Name: "Ben"}))
		check(t, s.Link(ctx, ann.ID, models.SignIn{Provider: "google", Subject: "g", Name: "Ann"}))
		ways := got[[]models.Identity](t)(s.Identities(ctx, ann.ID))

		wantKind(t, s.Unlink(ctx, ben.ID, ways[0].ID), models.NotFound)
		check(t, s.Unlink(ctx, ann.ID, ways[0].ID))
		wantKind(t, s.Unlink(ctx, ann.ID, ways[0].ID), models.NotFound)
		wantKind(t, s.Unlink(ctx, ann.ID, ways[1].ID), models.Conflict)

		if u := got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "google", Subject: "g"})); u.ID != ann.ID {
			t.Error("the way that is left opens another account")
		}
		if u := got[models.User](t)(s.SignIn(ctx, models.SignIn{Provider: "github", Subject: "1", Name: "Ann"})); u.ID == ann.ID {
			t.Error("the removed way still opens the account")
		}
	})
}
