package models_test

import (
	"strings"
	"testing"

	"warpboard/internal/statement"
	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

func TestEachRankedResultIsStatedOnceAndChained(t *testing.T) {
	modelstest.EachConfig(t, models.Config{Site: "https://kernels.example.org"}, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		first := w.measured(t, s, w.ann, 100, boards.Interval{})
		second := w.measured(t, s, w.ben, 90, boards.Interval{})
		var payloads []string
		for _, run := range []work.Run{first, second} {
			kept, err := s.Statements.Statement(t.Context(), run.ID)
			check(t, err)
			said, err := statement.Read([]byte(kept.Payload))
			check(t, err)
			if said.Result.Run != run.ID || said.Result.Score.NS != *run.ScoreNS || said.Result.Machine.Device != "CPU" ||
				said.Result.Site != "https://kernels.example.org" || len(said.Source()) != 64 || len(said.TaskDigest()) != 64 {
				t.Errorf("%+v", said)
			}
			check(t, said.Result.Check())
			if strings.Contains(kept.Payload, "int main") {
				t.Error("a statement quotes the source")
			}
			payloads = append(payloads, kept.Payload)
		}
		last, err := statement.Read([]byte(payloads[1]))
		check(t, err)
		if want := (statement.Link{Number: 2, Previous: statement.Hash([]byte(payloads[0]))}); last.Result.Chain != want {
			t.Errorf("%+v, want %+v", last.Result.Chain, want)
		}
	})
}

func TestADeletedResultStaysInTheChainThatOnlyAdminsRead(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		run := w.measured(t, s, w.ann, 100, boards.Interval{})
		_, err := s.DeleteSubmission(t.Context(), w.ann, run.SubmissionID, "")
		check(t, err)
		w.measured(t, s, w.ben, 90, boards.Interval{})
		chain, err := s.Statements.Chain(t.Context(), w.admin, 0, 10)
		check(t, err)
		if len(chain) != 2 || chain[0].RunID != run.ID || chain[1].Number != 2 {
			t.Errorf("%+v", chain)
		}
		if rest, err := s.Statements.Chain(t.Context(), w.admin, 1, 10); err != nil || len(rest) != 1 {
			t.Errorf("%d after the first, %v", len(rest), err)
		}
		if _, err := s.Statements.Chain(t.Context(), w.ann, 0, 10); db.KindOf(err) != db.Forbidden {
			t.Errorf("someone else read it: %v", err)
		}
	})
}

func TestOlderSigningKeysStayKnown(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		var ids []string
		for range 2 {
			key, err := statement.KeepKey(t.TempDir() + "/signing.key")
			check(t, err)
			for range 2 { // a second start
				keys, err := s.Statements.NoteSigningKey(t.Context(), key)
				check(t, err)
				own, err := key.Public(keys.Keys[0].Since)
				check(t, err)
				if keys.Keys[0] != own {
					t.Errorf("%+v, want %+v first", keys.Keys[0], own)
				}
				if len(keys.Keys) != len(ids)+1 {
					t.Errorf("%d keys after %d", len(keys.Keys), len(ids))
				}
			}
			own, err := key.Public(submissions.Submission{}.CreatedAt)
			check(t, err)
			ids = append(ids, own.ID)
		}
	})
}
