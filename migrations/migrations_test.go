package migrations_test

import (
	"strings"
	"testing"

	"warpboard/migrations"
	"warpboard/models"
	"warpboard/models/modelstest"
)

func TestADatabaseOfANewerProgramIsRefused(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		if _, err := migrations.Apply(t.Context(), s.SQL(), s.Dialect()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SQL().ExecContext(t.Context(),
			"insert into goose_db_version (version_id, is_applied) values (9000, true)"); err != nil {
			t.Fatal(err)
		}
		if _, err := migrations.Apply(t.Context(), s.SQL(), s.Dialect()); err == nil ||
			!strings.Contains(err.Error(), "version 9000") {
			t.Errorf("error is %v", err)
		}
		if _, err := s.SQL().ExecContext(t.Context(),
			"delete from goose_db_version where version_id = 9000"); err != nil {
			t.Error(err)
		}
	})
}
