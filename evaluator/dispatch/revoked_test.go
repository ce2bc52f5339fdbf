package dispatch

import (
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestAResultOfARevokedWorkerDoesNotCount checks a worker whose credential was revoked: on a cluster it stays connected
// for minutes. Its run must be queued again for another worker.
func TestAResultOfARevokedWorkerDoesNotCount(t *testing.T) {
	eachSite(t, func(s *site) {
		admin := modelstest.Person(t, s.store, "Root", accounts.RoleAdmin)
		if _, _, err := s.store.Fleet.CreateCredential(t.Context(), admin, "w1", []string{"CPU"}); err != nil {
			t.Fatal(err)
		}
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		if err := s.store.Fleet.RevokeCredential(t.Context(), admin, "w1"); err != nil {
			t.Fatal(err)
		}
		late := result(j, 10)
		late.Machine.Worker = "w1"
		if err := d.StoreResult(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		if drop := s.beat(d, j.AttemptID); len(drop) != 1 {
			t.Errorf("the worker is not told to drop it: %v", drop)
		}
		s.wantBoard()
		s.wantRun(run.ID, work.StateQueued, 1)
	})
}
