package fleet_test

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
)

// TestAJoinTokenLetsInSoManyWorkersUntilItsTimeAndForgetsThemWhenTheyLeave on both databases.
func TestAJoinTokenLetsInSoManyWorkersUntilItsTimeAndForgetsThemWhenTheyLeave(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		admin := modelstest.Person(t, s, "Root", models.RoleAdmin)
		make := func(most int, length time.Duration) (string, models.JoinToken) {
			t.Helper()
			secret, token, err := s.CreateJoinToken(t.Context(), admin, models.NewJoinToken{Name: "burst", Devices: []string{"CPU"}, Most: most, For: length})
			if err != nil {
				t.Fatal(err)
			}
			return secret, token
		}
		comes := func(name, secret string, want bool) {
			t.Helper()
			devices, ok, err := s.AuthorizeWorker(t.Context(), name, secret)
			if err != nil || ok != want || ok && (len(devices) != 1 || devices[0] != "CPU") {
				t.Errorf("%s: %v, %v, %v; want %v", name, devices, ok, err, want)
			}
		}
		const one, two = "ONEONEONEONEONEONE", "TWOTWOTWOTWOTWOTWO"
		secret, token := make(1, time.Hour)
		comes("w1", fleet.JoinSecret("wbj_guessed", one), false)
		comes("w1", fleet.JoinSecret(secret, "short"), false)
		comes("w1", fleet.JoinSecret(secret, one), true)
		comes("w1", fleet.JoinSecret(secret, one), true) // its connection broke
		comes("w1", fleet.JoinSecret(secret, two), false)
		comes("w1", one, true) // its own secret is enough
		comes("w2", fleet.JoinSecret(secret, two), false)
		beat := func(attempts ...string) {
			t.Helper()
			h := job.Heartbeat{Worker: "w1", Started: time.Now(), Stopping: true, Guest: true, Attempts: attempts}
			if err := s.SaveHeartbeat(t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
		beat("a1")
		comes("w1", one, true) // it still has something to deliver
		beat()
		comes("w1", one, false)
		comes("w2", fleet.JoinSecret(secret, two), true)
		if workers, err := s.RevokeJoinToken(t.Context(), admin, token.ID); err != nil || len(workers) != 1 || workers[0] != "w2" {
			t.Errorf("revoked %v, %v", workers, err)
		}
		comes("w2", two, false)
		if may, err := s.MayTake(t.Context(), "w2"); err != nil || may("CPU") {
			t.Errorf("a revoked worker may take jobs: %v", err)
		}
		comes("w3", fleet.JoinSecret(secret, two), false)

		secret, _ = make(9, time.Minute)
		comes("w4", fleet.JoinSecret(secret, one), true)
		if _, err := s.SQL().ExecContext(t.Context(), "update join_tokens set expires_at = $1", time.Now().UTC().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		comes("w4", fleet.JoinSecret(secret, one), true)
		comes("w5", fleet.JoinSecret(secret, one), false)
		if err := s.SweepGuests(t.Context(), time.Now().Add(25*time.Hour)); err != nil {
			t.Fatal(err)
		}
		comes("w4", one, false)
		if workers, err := s.Workers(t.Context()); err != nil || len(workers) != 0 {
			t.Errorf("workers that left are remembered: %+v, %v", workers, err)
		}
		if _, _, err := s.CreateJoinToken(t.Context(), modelstest.Person(t, s, "Ann", models.RoleUser), models.NewJoinToken{}); models.KindOf(err) != models.Forbidden {
			t.Errorf("a person made a token: %v", err)
		}
	})
}

// TestTwoProcessesOnOneHostHaveWorkersOfTwoNames, and one that comes again has its own.
func TestTwoProcessesOnOneHostHaveWorkersOfTwoNames(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		claims := func(holder, want string) {
			t.Helper()
			if name, err := s.ClaimName(t.Context(), "host", holder); err != nil || name != want {
				t.Errorf("%s has %q, %v; want %q", holder, name, err, want)
			}
		}
		claims("one", "host")
		claims("two", "host-2")
		claims("one", "host")
		if err := s.SaveHeartbeat(t.Context(), job.Heartbeat{Worker: "host", Started: time.Now(), Stopping: true}); err != nil {
			t.Fatal(err)
		}
		claims("three", "host")
		claims("two", "host-2")
	})
}
