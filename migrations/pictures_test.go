package migrations_test

import (
	"database/sql"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
)

func TestAPersonWithAStoredPictureKeepsTheirAccount(t *testing.T) {
	eachAdopted(t, func(t *testing.T, _ string, cfg models.Config, db *sql.DB) {
		for _, s := range []string{
			"insert into users (id, name, name_key, role, created_at, updated_at, avatar_url, picture, picture_off, picture_tried_at) values (9001, 'Zoe', 'zoe', 'user', $1, $1, 'https://pictures.example/1', 'd', false, $1)",
			"insert into identities (user_id, provider, subject, email, name, created_at, used_at) values (9001, 'oidc', 's', '', 'zoe', $1, $1)",
		} {
			if _, err := db.ExecContext(t.Context(), s, time.Now().UTC()); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
		if _, err := db.ExecContext(t.Context(), "insert into pictures (user_id, digest, data) values (9001, 'd', $1)",
			[]byte{1, 0, 255}); err != nil {
			t.Fatal(err)
		}
		s, err := models.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		zoe, err := s.Accounts.SignIn(t.Context(), accounts.SignIn{Provider: "oidc", Subject: "s", Name: "Zoe"})
		if err != nil || zoe.ID != 9001 || zoe.Name != "Zoe" {
			t.Errorf("after the update %+v signs in, %v", zoe, err)
		}
	})
}
