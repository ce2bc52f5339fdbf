package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"warpboard/e2e/costtest"
	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
)

// TestAttemptsThatAWorkerInventsCostTheSiteNothing sends a message full of attempts that do not exist. The site must
// store none of them, and stay within the cost of one request.
func TestAttemptsThatAWorkerInventsCostTheSiteNothing(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "CPU")
	s.submit()
	d := s.boot()
	s.pass(d, 0)
	mine := s.take().AttemptID
	var invented []string
	var events []job.Event
	for i := range 5000 {
		invented = append(invented, fmt.Sprint("a", i))
		events = append(events, job.Event{AttemptID: uuid.NewString(), Number: 1, Worker: "w1"})
	}
	named := append(slices.Clone(invented[:4000]), mine, mine)
	before := s.store.QueryCount()
	drop := s.beat(d, named...)
	if n := s.store.QueryCount() - before; n > 20 || len(drop) != 4000 || slices.Contains(drop, mine) {
		t.Errorf("a sync of 4,000 invented attempts took %d statements, and names %d to drop", n, len(drop))
	}
	workers, err := s.store.Fleet.Workers(t.Context())
	if err != nil || len(workers) != 1 || len(workers[0].AttemptIDs) > 2 || !slices.Contains(workers[0].AttemptIDs, mine) {
		t.Errorf("the site keeps %d attempts of its worker, %v", len(workers[0].AttemptIDs), err)
	}
	costtest.Check(t, "5,000 events of invented attempts", func() {
		if drop, err := d.StoreEvents(t.Context(), events); err != nil || len(drop) != len(events) {
			t.Errorf("%d are to drop, %v", len(drop), err)
		}
	})
}
