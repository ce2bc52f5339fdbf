package leases_test

import (
	"slices"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/leases"
	"warpboard/models/modelstest"
)

// TestALeaseIsOneProcessesUntilItEndsOrIsGivenBack on both databases.
func TestALeaseIsOneProcessesUntilItEndsOrIsGivenBack(t *testing.T) {
	for name, dsn := range map[string]string{"sqlite": "", "postgres": modelstest.PostgresURL(t)} {
		t.Run(name, func(t *testing.T) {
			database, _, err := db.Open(t.Context(), t.TempDir(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer database.Close()
			first, second := leases.New(database, "first"), leases.New(database, "second")
			want := func(l *leases.Leases, length time.Duration, names string, held ...string) {
				t.Helper()
				got, err := l.Hold(t.Context(), []string{names[1:], names[:1]}, length)
				slices.Sort(got)
				if err != nil || !slices.Equal(got, held) {
					t.Errorf("held %v, %v; want %v", got, err, held)
				}
			}
			want(first, time.Hour, "ab", "a", "b")
			want(second, time.Hour, "bc", "c")
			want(first, time.Hour, "ac", "a") // renewed
			if err := first.LetGo(t.Context()); err != nil {
				t.Fatal(err)
			}
			want(second, -time.Second, "ab", "a", "b") // over at once
			want(leases.New(database, "first"), time.Hour, "ab", "a", "b")
			want(second, time.Hour, "ab")
		})
	}
}

// TestAStoreHoldsAllLeasesOfItsDevices: a site alone never waits for itself, also after it was killed.
func TestAStoreHoldsAllLeasesOfItsDevices(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		s, err := models.Open(t.Context(), models.Config{Dir: dir, Replica: "one"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if held, err := s.Leases.Hold(t.Context(), []string{"CPU"}, time.Hour); err != nil || len(held) != 1 {
			t.Errorf("held %v, %v", held, err)
		}
	}
}
