package models_test

import (
	"encoding/json"
	"strings"
	"testing"

	"warpboard/internal/statement"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

func TestStatementOfARankedRun(t *testing.T) {
	modelstest.EachConfig(t, models.Config{SiteURL: "https://kernels.example.org"},
		func(t *testing.T, s *models.Store) {
			w := modelstest.NewWorld(t, s)
			run := w.Score(t, s, w.Ann, 100)
			waiting := w.Submit(t, s, w.Ben)
			run, err := s.Work.Run(t.Context(), run.ID)
			modelstest.Check(t, err)
			stated, err := s.Statement(t.Context(), run)
			modelstest.Check(t, err)
			r := stated.Result
			if r.Run != run.ID || r.Score.NS != *run.ScoreNS || len(r.CaseMeasurements) == 0 ||
				r.Machine.Device != "CPU" ||
				r.MeasuredAt.IsZero() ||
				r.Site != "https://kernels.example.org" || len(stated.Subject) != 2 {
				t.Errorf("%+v", stated)
			}
			for _, subject := range stated.Subject {
				if len(subject.Digest.SHA256) != 64 {
					t.Errorf("%+v", subject)
				}
			}
			if text, _ := json.Marshal(stated); strings.Contains(string(text), "int main") ||
				strings.Contains(string(text), "Ann") {
				t.Errorf("it quotes the source or names its person: %s", text)
			}
			_, err = s.Statement(t.Context(), waiting)
			modelstest.WantKind(t, err, db.NotFound)
		})
}

func TestOlderSigningKeysStayKnown(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		for older := range 2 {
			key, err := statement.ReadOrCreateKey(t.TempDir() + "/signing.key")
			modelstest.Check(t, err)
			for range 2 { // the second pass is another start with the same key
				keys, err := s.RecordSigningKey(t.Context(), key)
				modelstest.Check(t, err)
				own, err := key.Public(keys.PublicKeys[0].ValidSince)
				modelstest.Check(t, err)
				if keys.PublicKeys[0] != own || len(keys.PublicKeys) != older+1 {
					t.Errorf("%+v, want %+v first of %d", keys.PublicKeys, own, older+1)
				}
			}
		}
	})
}
