package statements_test

import (
	"strings"
	"testing"

	"warpboard/internal/statement"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// measured is a ranked run that has ended.
func measured(t *testing.T, s *models.Store, w modelstest.World, who accounts.User, ns float64) work.Run {
	t.Helper()
	run := w.Score(t, s, who, ns)
	return modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), run.ID))
}

func TestEachRankedResultIsStatedOnceAndChained(t *testing.T) {
	modelstest.EachConfig(t, models.Config{Site: "https://kernels.example.org"}, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		first := measured(t, s, w, w.Ann, 100)
		second := measured(t, s, w, w.Ben, 90)
		var payloads []string
		for _, run := range []work.Run{first, second} {
			kept, err := s.Statements.Statement(t.Context(), run.ID)
			modelstest.Check(t, err)
			said, err := statement.Read([]byte(kept.Payload))
			modelstest.Check(t, err)
			if said.Result.Run != run.ID || said.Result.Score.NS != *run.ScoreNS || said.Result.Machine.Device != "CPU" ||
				said.Result.Site != "https://kernels.example.org" || len(said.Source()) != 64 || len(said.TaskDigest()) != 64 {
				t.Errorf("%+v", said)
			}
			modelstest.Check(t, said.Result.Check())
			if strings.Contains(kept.Payload, "int main") {
				t.Error("a statement quotes the source")
			}
			payloads = append(payloads, kept.Payload)
		}
		last, err := statement.Read([]byte(payloads[1]))
		modelstest.Check(t, err)
		if want := (statement.Link{Number: 2, Previous: statement.Hash([]byte(payloads[0]))}); last.Result.Chain != want {
			t.Errorf("%+v, want %+v", last.Result.Chain, want)
		}
	})
}

func TestADeletedResultStaysInTheChainThatOnlyAdminsRead(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		run := measured(t, s, w, w.Ann, 100)
		_, err := s.DeleteSubmission(t.Context(), w.Ann, run.SubmissionID, "")
		modelstest.Check(t, err)
		measured(t, s, w, w.Ben, 90)
		chain, err := s.Statements.Chain(t.Context(), w.Admin, 0, 10)
		modelstest.Check(t, err)
		if len(chain) != 2 || chain[0].RunID != run.ID || chain[1].Number != 2 {
			t.Errorf("%+v", chain)
		}
		if rest, err := s.Statements.Chain(t.Context(), w.Admin, 1, 10); err != nil || len(rest) != 1 {
			t.Errorf("%d after the first, %v", len(rest), err)
		}
		if _, err := s.Statements.Chain(t.Context(), w.Ann, 0, 10); db.KindOf(err) != db.Forbidden {
			t.Errorf("someone else read it: %v", err)
		}
	})
}

func TestOlderSigningKeysStayKnown(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		var ids []string
		for range 2 {
			key, err := statement.KeepKey(t.TempDir() + "/signing.key")
			modelstest.Check(t, err)
			for range 2 { // a second start
				keys, err := s.Statements.NoteSigningKey(t.Context(), key)
				modelstest.Check(t, err)
				own, err := key.Public(keys.Keys[0].Since)
				modelstest.Check(t, err)
				if keys.Keys[0] != own {
					t.Errorf("%+v, want %+v first", keys.Keys[0], own)
				}
				if len(keys.Keys) != len(ids)+1 {
					t.Errorf("%d keys after %d", len(keys.Keys), len(ids))
				}
			}
			own, err := key.Public(submissions.Submission{}.CreatedAt)
			modelstest.Check(t, err)
			ids = append(ids, own.ID)
		}
	})
}
