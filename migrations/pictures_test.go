package migrations_test

import (
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

func TestAPersonWithAStoredPictureKeepsTheirAccount(t *testing.T) {
	for name, cfg := range map[string]models.Config{"sqlite": {Dir: t.TempDir()}, "postgres": {Dir: t.TempDir(), DSN: modelstest.PostgresURL(t)}} {
		t.Run(name, func(t *testing.T) {
			db, dialect, _ := openAt(t, cfg)
			if err := upTo(t.Context(), db, dialect, 55); err != nil {
				t.Fatal(err)
			}
			for _, s := range []string{
				"insert into users (id, name, name_key, role, created_at, updated_at, avatar_url, picture, picture_off, picture_tried_at) values (1, 'Ann', 'ann', 'user', $1, $1, 'https://pictures.example/1', 'd', false, $1)",
				"insert into identities (user_id, provider, subject, email, name, created_at, used_at) values (1, 'oidc', 's', '', 'ann', $1, $1)",
			} {
				if _, err := db.ExecContext(t.Context(), s, time.Now().UTC()); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
			if _, err := db.ExecContext(t.Context(), "insert into pictures (user_id, digest, data) values (1, 'd', $1)", []byte{1, 0, 255}); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s, err := models.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ann, err := s.Accounts.SignIn(t.Context(), accounts.SignIn{Provider: "oidc", Subject: "s", Name: "ann"})
			if err != nil || ann.ID != 1 || ann.Name != "Ann" {
				t.Errorf("after the update %+v signs in, %v", ann, err)
			}
		})
	}
}
