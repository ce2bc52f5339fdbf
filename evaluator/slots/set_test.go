package slots

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestAJobTakesAnIdleSlotWhereItsOwnIsBusy(t *testing.T) {
	p := gpus(2, nil)
	own := p.AllSlots()[0]
	first := mustHold(t, p, own, 1)
	second := mustHold(t, p, own, 1)
	if first.OwnSlot() != own || second.OwnSlot() != p.AllSlots()[1] || !p.IsDeviceBusy("H200") {
		t.Errorf("held are slots %d and %d, all busy: %v", first.OwnSlot().Index, second.OwnSlot().Index, p.IsDeviceBusy("H200"))
	}
	first.Release()
	if p.IsDeviceBusy("H200") || mustHold(t, p, own, 1).OwnSlot() != own {
		t.Error("its own slot was not taken when it was free")
	}
}

// TestAWaitingJobTakesTheFirstSlotThatIsFree covers a job whose own slot stays busy for long.
func TestAWaitingJobTakesTheFirstSlotThatIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(3, nil)
		var held []*Lease
		for _, s := range p.AllSlots() {
			held = append(held, mustHold(t, p, s, 1))
		}
		got := make(chan *Lease)
		go func() {
			lease, err := p.Acquire(t.Context(), p.AllSlots()[0], 1, "waiting", "ann")
			if err != nil {
				t.Error(err)
			}
			got <- lease
		}()
		synctest.Wait()
		held[2].Release()
		if lease := <-got; lease == nil || lease.OwnSlot() != p.AllSlots()[2] {
			t.Errorf("the job has %+v", lease)
		}
	})
}

// TestAJobLeavesAnotherSlotToTheJobsThatArriveThere checks that a waiting job takes no slot for which another job has
// arrived, but takes it when it is idle.
func TestAJobLeavesAnotherSlotToTheJobsThatArriveThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(2, nil)
		own, other := p.AllSlots()[0], p.AllSlots()[1]
		mustHold(t, p, own, 1)
		running := mustHold(t, p, other, 1)
		acquired := make(chan *Slot, 2)
		begin := func(s *Slot, id string) {
			lease, err := p.Acquire(t.Context(), s, 1, id, "ann")
			if err != nil {
				t.Error(err)
			}
			acquired <- lease.OwnSlot()
		}
		go begin(own, "waits longest")
		time.Sleep(time.Second)
		go begin(other, "arrived there")
		time.Sleep(time.Second)
		running.Release()
		if got := <-acquired; got != other || other.holderID != "arrived there" {
			t.Errorf("slot %d has the job that %s", got.Index, got.holderID)
		}
		receiver, built := other.AcquirePermit(t.Context()), other.AcquirePermit(t.Context())
		other.releaseHold()
		time.Sleep(time.Second)
		if other.isHeld() {
			t.Errorf("the job that %s took a slot for which another one is built", other.holderID)
		}
		built.Return()
		if got := <-acquired; got != other || other.holderID != "waits longest" {
			t.Errorf("slot %d has the job that %s", got.Index, got.holderID)
		}
		receiver.Return()
	})
}

// TestAJobLeavesAnIdleSlotToItsLastCaller checks that a waiting job takes no idle slot for which another caller's jobs
// are being built, unless it has waited for some time or has the same caller.
func TestAJobLeavesAnIdleSlotToItsLastCaller(t *testing.T) {
	for caller, want := range map[string]time.Duration{"a": idleSlotPoll, "ben": maxLeaveTime} {
		synctest.Test(t, func(t *testing.T) {
			p := gpus(2, nil)
			own, other := p.AllSlots()[0], p.AllSlots()[1]
			mustHold(t, p, own, 1)
			other.RecordArrival("a")
			other.addBuilds(1)
			began := time.Now()
			lease, err := p.Acquire(t.Context(), own, 1, "waiting", caller)
			took := time.Since(began)
			if err != nil || lease.OwnSlot() != other || took > want || took < want-idleSlotPoll {
				t.Errorf("%s's job got %+v after %v, want the idle slot after %v (%v)", caller, lease, took, want, err)
			}
		})
	}
}

// TestAttemptsThatWaitForLongAreFair checks the order in which attempts get a slot: first those of its last caller, but
// after some time callers alternate.
func TestAttemptsThatWaitForLongAreFair(t *testing.T) {
	for _, tt := range []struct {
		name     string
		duration time.Duration // of each attempt on the slot
		want     string
	}{
		{"short attempts", time.Second, "a1 a2 a3 a4 b1 b2 run"},
		{"long attempts", time.Minute, "b1 run a1 b2 a2 a3 a4"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := gpus(1, nil)
			own := p.AllSlots()[0]
			held := mustHold(t, p, own, 1)
			var order []string
			var ended sync.WaitGroup
			for _, id := range []string{"a1", "a2", "a3", "b1", "a4", "b2", "run"} {
				ended.Go(func() {
					lease, err := p.Acquire(t.Context(), own, 1, id, id[:1])
					if err != nil {
						t.Error(err)
						return
					}
					order = append(order, id)
					time.Sleep(tt.duration)
					lease.Release()
				})
				time.Sleep(time.Millisecond)
			}
			time.Sleep(tt.duration)
			held.Release()
			ended.Wait()
			if got := strings.Join(order, " "); got != tt.want {
				t.Errorf("%s: the slot went to %s, want %s", tt.name, got, tt.want)
			}
		})
	}
}

func TestARequestCountsTheJobsThatNeedTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(1, nil)
		own := p.AllSlots()[0]
		held := mustHold(t, p, own, 1)
		var waiting sync.WaitGroup
		for range 2 {
			waiting.Go(func() { mustHold(t, p, own, 1).Release() })
		}
		synctest.Wait()
		before := p.JobRequest(own).SlotJobCount
		held.Release()
		waiting.Wait()
		if after := p.JobRequest(own).SlotJobCount; before != 3 || after != 0 {
			t.Errorf("%d jobs, and %d when all have ended; want 3 and 0", before, after)
		}
	})
}

func TestARequestNamesTheCallerOfTheLastJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(1, nil)
		s := p.AllSlots()[0]
		for _, tt := range []struct {
			arrives, ends, want string
			lasted              time.Duration
		}{
			{"", "", "", 0},
			{"ann", "", "ann", 0},
			{"ann", "ann", "ann", time.Second},
			{"ann", "ann", "ann", 2 * time.Second},
			{"ben", "ann", "ben", 0},
			{"ben", "ben", "ben", time.Second},
			{"", "ben", "", 0},
		} {
			s.RecordArrival(tt.arrives)
			s.RecordEnd(tt.ends)
			time.Sleep(time.Second)
			if ask := p.JobRequest(s); ask.Caller != tt.want || tt.want != "" && ask.CallerTime != tt.lasted {
				t.Errorf("a job of %q arrived and one of %q ended: the request names %q since %v, want %q since %v",
					tt.arrives, tt.ends, ask.Caller, ask.CallerTime, tt.want, tt.lasted)
			}
		}
	})
}

func TestAJobWaitsForTheSelfTestsOfItsSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gpus(2, nil)
		if have := p.WaitInService(t.Context(), "H200", 3); have != 2 {
			t.Errorf("%d slots, want 2 at once, because there are no more", have)
		}
		tested := p.AllSlots()[1]
		tested.StartChecks()
		time.AfterFunc(30*time.Second, tested.ReturnToService)
		began := time.Now()
		if have := p.WaitInService(t.Context(), "H200", 2); have != 2 || time.Since(began) < 30*time.Second {
			t.Errorf("%d slots after %v", have, time.Since(began))
		}
		tested.Retire(errors.New("broken"))
		if have := p.WaitInService(t.Context(), "H200", 2); have != 1 {
			t.Errorf("%d slots with a broken one, want 1", have)
		}
		began = time.Now()
		p.AllSlots()[0].StartChecks() // as for a self-test, which is a job for one slot
		if p.WaitInService(t.Context(), "H200", 1); time.Since(began) > 0 {
			t.Errorf("a self-test waited %v for its own slot", time.Since(began))
		}
	})
}
