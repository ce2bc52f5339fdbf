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

// TestSidecarsStayWithTheirCallers checks that a caller's jobs get the sidecars of its earlier ones, that another
// caller gets one at once, and more when they have not been used for some time or its job has waited, and that a
// sidecar without a program is anyone's.
func TestSidecarsStayWithTheirCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := gpus(1, nil).AllSlots()[0]
		take := func(caller string, waited time.Duration, wants ...*Sidecar) {
			t.Helper()
			for _, want := range wants {
				if got := s.takeSidecar(caller, waited); got != want {
					t.Errorf("%s's job got sidecar %p, want %p", caller, got, want)
				}
			}
		}
		release := func(all ...*Sidecar) {
			for _, sidecar := range all {
				time.Sleep(time.Millisecond)
				sidecar.KeepProgram(sidecar.lastCaller, &program{}, nil, true)
				s.releaseSidecar(sidecar)
			}
		}
		a, b, c := s.Sidecars[0], s.Sidecars[1], s.Sidecars[2]
		take("ann", 0, a, b, c, nil)
		take("ben", 0, nil)
		release(b, a, c)
		take("ben", 0, b, nil)
		take("ann", 0, a, c, nil)
		release(a, b, c)
		take("ben", 0, b, nil)
		take("ben", maxOwnSidecarWait, a)
		release(a, b)
		time.Sleep(sidecarKeepTime)
		take("ben", 0, a, b, c)
		release(b, c)
		a.Close()
		s.releaseSidecar(a)
		take("ben", 0, b)
		take("ann", 0, a, nil)
	})
}
