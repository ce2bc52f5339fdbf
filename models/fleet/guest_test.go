package fleet_test

import (
	"runtime"
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

// TestAJoinTokensLimitHoldsForGuestsThatAreSilent checks two rules. A guest that never sends a heartbeat counts toward
// the token's limit until it is revoked, and gets no jobs. A guest that was silent may return only while the limit
// allows another worker.
func TestAJoinTokensLimitHoldsForGuestsThatAreSilent(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx, admin := t.Context(), modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		token, _, err := s.Fleet.CreateJoinToken(ctx, admin,
			fleet.NewJoinToken{Name: "burst", Devices: []string{"CPU"}, MaxWorkers: 2, Lifetime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		joins := func(name string, want bool) {
			t.Helper()
			if _, ok, err := s.Fleet.AuthorizeWorker(ctx, name,
				fleet.JoinSecret(token, "ONEONEONEONEONEONE")); err != nil || ok != want {
				t.Errorf("%s joins: %v, %v; want %v", name, ok, err, want)
			}
		}
		passes := func(table, column, name string, time time.Time) {
			t.Helper()
			if _, err := s.SQL().ExecContext(ctx, "update "+table+" set "+column+" = $1 where name = $2", time.UTC(),
				name); err != nil {
				t.Fatal(err)
			}
		}
		beat := func(name string) error {
			return s.Fleet.SaveHeartbeat(ctx,
				job.Heartbeat{Worker: name, WorkerStartedAt: time.Now(), Slots: []job.Slot{{Device: "CPU"}}})
		}
		takes := func(name string, want bool) {
			t.Helper()
			may, err := s.Fleet.DeviceFilterOf(ctx, name)
			if err != nil || may("CPU") != want {
				t.Errorf("%s may take jobs: %v, %v; want %v", name, !want, err, want)
			}
		}
		joins("mute", true)
		takes("mute", true) // it has just joined
		passes("worker_credentials", "created_at", "mute", time.Now().Add(-2*time.Minute))
		takes("mute", false)
		joins("first", true)
		if err := beat("first"); err != nil {
			t.Fatal(err)
		}
		joins("third", false) // the guest "mute" counts toward the limit, too

		passes("worker_credentials", "created_at", "mute", time.Now().Add(-20*time.Minute))
		if names, err := s.Fleet.RevokeSilentGuests(ctx, time.Now()); err != nil ||
			!slices.Equal(names, []string{"mute"}) {
			t.Errorf("revoked %v, %v", names, err)
		}
		joins("third", true)
		passes("worker_credentials", "created_at", "first", time.Now().Add(-5*time.Minute))
		passes("workers", "seen_at", "first", time.Now().Add(-time.Minute))
		joins("fourth", true) // the guest "first" is silent and no longer counts
		takes("first", false)
		if err := beat("first"); db.KindOf(err) != db.Conflict {
			t.Errorf("a third worker of two came back: %v", err)
		}
		takes("first", false)
		goodbye := job.Heartbeat{Worker: "fourth", WorkerStartedAt: time.Now(), IsStopping: true}
		if err := s.Fleet.SaveHeartbeat(ctx, goodbye); err != nil {
			t.Fatal(err)
		}
		if err := beat("first"); err != nil {
			t.Errorf("there is room again: %v", err)
		}
		takes("first", true)
	})
}

// TestAWorkerThatIsRevokedWhileItComesIsNotAuthorized checks that AuthorizeWorker fails if the credential is revoked
// after it was read and before its use is stored.
func TestAWorkerThatIsRevokedWhileItComesIsNotAuthorized(t *testing.T) {
	s := modelstest.Open(t)
	ctx, admin := t.Context(), modelstest.Person(t, s, "Root", accounts.RoleAdmin)
	secret, _, err := s.Fleet.CreateCredential(ctx, admin, "gpu-1", []string{"CPU"})
	if err != nil {
		t.Fatal(err)
	}
	revoking, err := s.SQL().BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	waited := s.SQL().Stats().WaitCount
	if _, err := revoking.ExecContext(ctx, "update worker_credentials set revoked_at = $1",
		time.Now().UTC()); err != nil {
		t.Fatal(err)
	}
	let := make(chan bool, 1)
	go func() {
		_, ok, err := s.Fleet.AuthorizeWorker(ctx, "gpu-1", secret)
		let <- ok && err == nil
	}()
	for s.SQL().Stats().WaitCount == waited { // until AuthorizeWorker has read the credential and waits to write
		runtime.Gosched()
	}
	if err := revoking.Commit(); err != nil {
		t.Fatal(err)
	}
	if <-let {
		t.Error("it was let in")
	}
}
