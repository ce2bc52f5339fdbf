package models_test

import (
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

func TestAPictureIsKeptOnlyWhileItsPersonWantsThatOne(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx, in := t.Context(), accounts.SignIn{Provider: "oidc", Subject: "1", Name: "Ann", AvatarURL: "https://pictures.example/1"}
		ann := got[accounts.User](t)(s.Accounts.SignIn(ctx, in))
		if at := got[string](t)(s.Accounts.ClaimPicture(ctx, ann.ID, time.Minute)); at != in.AvatarURL {
			t.Errorf("it is fetched from %q", at)
		}
		_, err := s.Accounts.ClaimPicture(ctx, ann.ID, time.Minute)
		wantKind(t, err, db.NotFound) // within the minute
		got[string](t)(s.Accounts.ClaimPicture(ctx, ann.ID, 0))

		shown := func() string { return got[accounts.User](t)(s.Accounts.User(ctx, ann.ID)).Picture }
		for range 2 {
			check(t, s.Accounts.KeepPicture(ctx, ann.ID, in.AvatarURL, []byte{1, 0, 255}))
		}
		if data := got[[]byte](t)(s.Accounts.Picture(ctx, ann.ID, shown())); string(data) != "\x01\x00\xff" {
			t.Errorf("kept %x", data)
		}
		check(t, s.Accounts.KeepPicture(ctx, ann.ID, "https://pictures.example/old", []byte{2}))
		if data := got[[]byte](t)(s.Accounts.Picture(ctx, ann.ID, shown())); len(data) != 3 {
			t.Error("one that was fetched from an older address came through")
		}
		got[accounts.User](t)(s.Accounts.SignIn(ctx, in))
		if shown() == "" {
			t.Error("signing in again forgot it")
		}

		kept := shown()
		check(t, s.Accounts.SetPictureOff(ctx, ann, ann.ID, true))
		_, err = s.Accounts.Picture(ctx, ann.ID, kept)
		wantKind(t, err, db.NotFound)
		_, err = s.Accounts.ClaimPicture(ctx, ann.ID, 0)
		wantKind(t, err, db.NotFound)
		check(t, s.Accounts.KeepPicture(ctx, ann.ID, in.AvatarURL, []byte{3})) // was under way
		if shown() != "" {
			t.Error("one that is not wanted is shown")
		}

		check(t, s.Accounts.SetPictureOff(ctx, ann, ann.ID, false))
		check(t, s.Accounts.KeepPicture(ctx, ann.ID, in.AvatarURL, []byte{4}))
		in.AvatarURL = "https://pictures.example/2"
		got[accounts.User](t)(s.Accounts.SignIn(ctx, in))
		if shown() != "" {
			t.Error("the picture of an older address is shown")
		}
	})
}
