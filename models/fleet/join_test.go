package fleet_test

import (
	"slices"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
)

// TestAJoinTokenAdmitsALimitedNumberOfWorkers checks the limit, the secrets, and the revocation of a join token.
func TestAJoinTokenAdmitsALimitedNumberOfWorkers(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		admin := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		make := func(most int, length time.Duration) (string, fleet.JoinToken) {
			t.Helper()
			secret, token, err := s.Fleet.CreateJoinToken(t.Context(), admin, fleet.NewJoinToken{
				Name:       "burst",
				Devices:    []string{"CPU"},
				MaxWorkers: most,
				Lifetime:   length,
			})
			if err != nil {
				t.Fatal(err)
			}
			return secret, token
		}
		comes := func(name, secret string, want bool) {
			t.Helper()
			devices, ok, err := s.Fleet.AuthorizeWorker(t.Context(), name, secret)
			if err != nil || ok != want || ok && (len(devices) != 1 || devices[0] != "CPU") {
				t.Errorf("%s: %v, %v, %v; want %v", name, devices, ok, err, want)
			}
		}
		const one, two = "ONEONEONEONEONEONE", "TWOTWOTWOTWOTWOTWO"
		secret, token := make(1, time.Hour)
		comes("w1", fleet.JoinSecret("wbj_guessed", one), false)
		comes("w1", fleet.JoinSecret(secret, "short"), false)
		comes("w1", fleet.JoinSecret(secret, one), true)
		comes("w1", fleet.JoinSecret(secret, one), true) // reconnects with the same secret
		comes("w1", fleet.JoinSecret(secret, two), false)
		comes("w1", one, true) // reconnects with its own secret, without the token
		comes("w2", fleet.JoinSecret(secret, two), false)
		beat := func(attempts ...string) {
			t.Helper()
			h := job.Heartbeat{Worker: "w1", WorkerStartedAt: time.Now(), IsStopping: true, Attempts: attempts}
			if err := s.Fleet.SaveHeartbeat(t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
		beat("a1")
		comes("w1", one, true) // an exiting worker may reconnect while it has results to deliver
		beat()
		comes("w1", one, false)
		comes("w2", fleet.JoinSecret(secret, two), true)
		if workers, err := s.Fleet.RevokeJoinToken(t.Context(), admin, token.ID); err != nil || len(workers) != 1 || workers[0] != "w2" {
			t.Errorf("revoked %v, %v", workers, err)
		}
		comes("w2", two, false)
		if may, err := s.Fleet.DeviceFilterOf(t.Context(), "w2"); err != nil || may("CPU") {
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
		later := time.Now().Add(25 * time.Hour)
		if names, err := s.Fleet.RevokeSilentGuests(t.Context(), later); err != nil || !slices.Contains(names, "w4") {
			t.Fatalf("silent: %v, %v", names, err)
		}
		if err := s.Fleet.SweepGuests(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		comes("w4", one, false)
		if workers, err := s.Fleet.Workers(t.Context()); err != nil || len(workers) != 0 {
			t.Errorf("workers that left are remembered: %+v, %v", workers, err)
		}
		if _, _, err := s.Fleet.CreateJoinToken(t.Context(), modelstest.Person(t, s, "Ann", accounts.RoleUser), fleet.NewJoinToken{}); db.KindOf(err) != db.Forbidden {
			t.Errorf("a person made a token: %v", err)
		}
	})
}

// TestTwoProcessesOnOneHostHaveWorkersOfTwoNames checks that the second process gets another name, and that a process
// that claims again keeps its name.
func TestTwoProcessesOnOneHostHaveWorkersOfTwoNames(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		claims := func(holder, want string) {
			t.Helper()
			if name, err := s.Fleet.ClaimName(t.Context(), "host", holder); err != nil || name != want {
				t.Errorf("%s has %q, %v; want %q", holder, name, err, want)
			}
		}
		claims("one", "host")
		claims("two", "host-2")
		claims("one", "host")
		if err := s.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{Worker: "host", WorkerStartedAt: time.Now(), IsStopping: true}); err != nil {
			t.Fatal(err)
		}
		claims("three", "host")
		claims("two", "host-2")
	})
}

// TestAJoinTokenTakesOverNoWorker checks that a guest cannot get the name of the site's own worker, of a worker with a
// credential, or of a worker that left, and that no heartbeat changes its status as guest.
func TestAJoinTokenTakesOverNoWorker(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx, admin := t.Context(), modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		const one, two = "ONEONEONEONEONEONE", "TWOTWOTWOTWOTWOTWO"
		token, _, err := s.Fleet.CreateJoinToken(ctx, admin, fleet.NewJoinToken{
			Name:       "burst",
			Devices:    []string{"CPU"},
			MaxWorkers: 99,
			Lifetime:   time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Fleet.CreateCredential(ctx, admin, "remote", []string{"H200"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Fleet.ClaimName(ctx, "own", "site"); err != nil {
			t.Fatal(err)
		}
		beat := func(worker string, stopping bool, devices ...string) {
			t.Helper()
			h := job.Heartbeat{Worker: worker, WorkerStartedAt: time.Now(), IsStopping: stopping}
			for _, device := range devices {
				h.Slots = append(h.Slots, job.Slot{Device: device})
			}
			if err := s.Fleet.SaveHeartbeat(ctx, h); err != nil {
				t.Fatal(err)
			}
		}
		slots := func(worker string) int {
			t.Helper()
			workers, err := s.Fleet.Workers(ctx)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(workers, func(w fleet.Worker) bool { return w.Name == worker })
			return len(workers[i].Slots)
		}
		joins := func(name, own string, want bool) {
			t.Helper()
			if _, ok, err := s.Fleet.AuthorizeWorker(ctx, name, fleet.JoinSecret(token, own)); err != nil || ok != want {
				t.Errorf("%s joins: %v, %v; want %v", name, ok, err, want)
			}
		}
		beat("cluster", false, "H200") // a worker of a NATS cluster that admits workers without asking the site
		for _, name := range []string{"own", "OWN", "remote", "Remote", "cluster"} {
			joins(name, one, false)
		}
		beat("own", false, "H200")
		if n := slots("own"); n != 1 {
			t.Errorf("the site's own worker has %d slots", n)
		}

		joins("guest", one, true)
		joins("GUEST", two, false)
		beat("guest", false, "CPU", "H200")
		if n := slots("guest"); n != 1 {
			t.Errorf("a guest has %d slots", n)
		}
		beat("guest", true) // the guest reports that it exits, but stays connected
		beat("guest", false, "CPU", "H200")
		if n := slots("guest"); n != 0 {
			t.Errorf("a guest that left has %d slots", n)
		}
		joins("guest", two, false)

		joins("host", one, true) // a guest gets the name "host" before the site's own worker claims it
		if name, err := s.Fleet.ClaimName(ctx, "host", "site"); err != nil || name != "host-2" {
			t.Errorf("the site's own worker is %q, %v", name, err)
		}
		if _, _, err := s.Fleet.CreateCredential(ctx, admin, "own", []string{"H200"}); db.KindOf(err) != db.Conflict {
			t.Errorf("a credential for the name of the site's own worker: %v", err)
		}
	})
}

// TestARevokedCredentialStaysRevoked checks that a worker with a revoked credential, which may still be connected, does
// not count as the site's own worker.
func TestARevokedCredentialStaysRevoked(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx, admin := t.Context(), modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		if _, _, err := s.Fleet.CreateCredential(ctx, admin, "remote", []string{"CPU"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Fleet.RevokeCredential(ctx, admin, "remote"); err != nil {
			t.Fatal(err)
		}
		if may, err := s.Fleet.DeviceFilterOf(ctx, "remote"); err != nil || may("CPU") || may("H200") {
			t.Errorf("a revoked worker may take jobs: %v", err)
		}
		if name, err := s.Fleet.ClaimName(ctx, "remote", "site"); err != nil || name != "remote" {
			t.Errorf("the name of a revoked credential is not free: %q, %v", name, err)
		}
		if may, err := s.Fleet.DeviceFilterOf(ctx, "remote"); err != nil || !may("H200") {
			t.Errorf("the site's own worker may not take jobs: %v", err)
		}
	})
}
