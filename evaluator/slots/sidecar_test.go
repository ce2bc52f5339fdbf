package slots

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAcquireSidecar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(1, nil)
		own := p.AllSlots()[0]
		acquire := func() (*Sidecar, func()) {
			t.Helper()
			reservation := own.AcquirePermit(t.Context())
			defer reservation.Return()
			sidecar, release, err := p.AcquireSidecar(t.Context(), own, reservation, "ann")
			if err != nil {
				t.Fatal(err)
			}
			return sidecar, release
		}
		if sidecar, _ := acquire(); sidecar != nil {
			t.Error("a job whose slot is idle got a sidecar")
		}
		held := mustHold(t, p, own, 1)
		var releases []func()
		for range sidecarsPerSlot {
			sidecar, release := acquire()
			if sidecar == nil {
				t.Fatal("a job got no sidecar, and one is free")
			}
			releases = append(releases, release)
		}
		began := time.Now()
		if sidecar, _ := acquire(); sidecar != nil || time.Since(began) != maxSidecarWait {
			t.Errorf("sidecar %v after %v, want none after %v", sidecar, time.Since(began), maxSidecarWait)
		}
		came := make(chan *Sidecar)
		go func() {
			sidecar, _ := acquire()
			came <- sidecar
		}()
		synctest.Wait()
		held.Release()
		began = time.Now()
		if sidecar := <-came; sidecar != nil || time.Since(began) > maxIdleTime+idleCheckInterval {
			t.Errorf("a job waited %v for a sidecar beside an idle slot", time.Since(began))
		}
		releases[0]()
		if sidecar, _ := acquire(); sidecar == nil {
			t.Error("the sidecar that was released is not free")
		}
	})
}

// TestACallerGetsItsOwnSidecars checks that a job gets a sidecar with its caller's program if one is free, and
// otherwise the one that has been free longest.
func TestACallerGetsItsOwnSidecars(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := gpus(1, nil).AllSlots()[0]
		take := func(caller string, wants ...*Sidecar) {
			t.Helper()
			for _, want := range wants {
				if got := s.takeSidecar(caller); got != want {
					t.Errorf("%s's job got sidecar %p, want %p", caller, got, want)
				}
			}
		}
		release := func(caller string, all ...*Sidecar) {
			for _, sidecar := range all {
				time.Sleep(time.Millisecond)
				sidecar.KeepProgram(caller, &program{}, nil, true)
				s.releaseSidecar(sidecar)
			}
		}
		a, b, c := s.Sidecars[0], s.Sidecars[1], s.Sidecars[2]
		take("ann", a, b, c, nil)
		take("ben", nil)
		release("ann", b, a, c)
		take("ben", b)
		release("ben", b)
		take("ann", a, c)
		release("ann", a, c)
		take("ben", b, a, c, nil)
	})
}
