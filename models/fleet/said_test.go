package fleet_test

import (
	"strings"
	"testing"
	"time"

	"warpboard/e2e/costtest"
	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
)

// TestNoHeartbeatCostsTenPagesMoreThanARequestMay checks that reading the largest heartbeat ten times costs no more
// than one request may, because most pages read the heartbeats.
func TestNoHeartbeatCostsTenPagesMoreThanARequestMay(t *testing.T) {
	modelstest.EachDialect(t, func(t *testing.T, s *models.Store) {
		beat := job.Heartbeat{Worker: "w1", WorkerStartedAt: time.Now()}
		for i := range job.MaxSlots {
			machine := job.Machine{GPUConditions: map[string]string{}}
			for key := range 120 {
				machine.GPUConditions[strings.Repeat("x", key%10+1)+string(rune('a'+key/10))] = "1"
			}
			beat.Slots = append(beat.Slots, job.Slot{Index: i, Device: "CPU", Machine: machine})
		}
		modelstest.RecordHeartbeat(t, s, beat)
		costtest.Check(t, "ten readers of what a worker said", func() {
			for range 10 {
				workers, err := s.Fleet.Workers(t.Context())
				if err != nil || len(workers) != 1 || len(workers[0].Slots) != job.MaxSlots {
					t.Errorf("%d workers, %v", len(workers), err)
				}
			}
		})
	})
}
