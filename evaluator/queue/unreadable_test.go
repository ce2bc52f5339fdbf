package queue

import (
	"encoding/json"
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

// TestAnUnreadableJobIsDroppedAndNoWorkersFault puts what is no job into the stream, as an older version
// let a worker do. The worker gets the next true job, and the stream is empty afterwards.
func TestAnUnreadableJobIsDroppedAndNoWorkersFault(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		publish(t, s.Queue, aJob("a0", "CPU"))
		w := s.worker(t, "w1")
		done(t, receive(t, w, "CPU"))
		other, err := json.Marshal(aJob("a1", "H200"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "no JSON", `{"stream":"RESULTS","seq":7}`, `[]`, string(other)} {
			if _, err := s.js.Publish(t.Context(), jobSubject("CPU", "fake"), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		publish(t, s.Queue, aJob("a2", "CPU"))
		d := receive(t, w, "CPU")
		if d.Job.AttemptID != "a2" {
			t.Errorf("received %+v", d.Job)
		}
		done(t, d)
		if w.Dropped() != 5 {
			t.Errorf("the worker dropped %d", w.Dropped())
		}
		for inStream(t, s.Queue) > 0 { // the worker does not wait for the site to take them off
		}
		if n := s.Dropped(); n != 5 {
			t.Errorf("the site counted %d", n)
		}
	})
}

func inStream(t *testing.T, q *Queue) uint64 {
	t.Helper()
	stream, err := q.js.Stream(t.Context(), jobsStream)
	if err != nil {
		t.Fatal(err)
	}
	return stream.CachedInfo().State.Msgs
}

func TestAWorkerOfAnotherVersionIsToldSoAndCostsNoJob(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		publish(t, s.Queue, aJob("a1", "CPU"))
		w := s.worker(t, "w1")
		m, err := w.receive(t.Context(), "CPU", askForJob{Version: job.Version + 1, Wait: pullFor})
		if err != nil {
			t.Fatal(err)
		}
		if why := m.Header.Get(refusedKey); !strings.Contains(why, "update the older one") {
			t.Errorf("the site answers %q, %+v", m.Data, m.Header)
		}
		done(t, receive(t, w, "CPU"))
	})
}

// TestALargeJobCanBeFinished: the site reads the job again to know whose it is, whatever its size.
func TestALargeJobCanBeFinished(t *testing.T) {
	everywhere(t, func(t *testing.T, s site) {
		big := aJob("a1", "CPU")
		big.Sources["data"] = make([]byte, MaxMessage/4)
		if s.nc.MaxPayload() < MaxMessage {
			big.Sources["data"] = make([]byte, s.nc.MaxPayload()/2)
		}
		publish(t, s.Queue, big)
		done(t, receive(t, s.worker(t, "w1"), "CPU"))
		if n := inStream(t, s.Queue); n > 0 {
			t.Errorf("%d jobs are left", n)
		}
	})
}
