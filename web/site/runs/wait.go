package runs

import (
	"context"
	"fmt"
	"time"

	"warpboard/models/work"
	"warpboard/views"
	"warpboard/views/format"
)

// addPlace adds a run's place in the queue, and the reason for waiting.
func (s *Runs) addPlace(ctx context.Context, run work.Run, card *views.RunCard) error {
	places, err := s.site.Store.Work.Places(ctx, run.SubmissionID)
	if err != nil {
		return err
	}
	devices, err := s.DeviceList(ctx)
	if err != nil {
		return err
	}
	card.Position, card.NoWorker = places[run.ID], true
	card.Waiting = "The run keeps its place and starts when a worker connects."
	for _, d := range devices {
		if d.Device == run.Device && d.Slots == 0 && d.Problem != "" {
			card.Waiting = d.Problem + " The run keeps its place and starts when that is fixed."
		}
		if d.Device != run.Device || d.Slots == 0 {
			continue
		}
		card.NoWorker = false
		switch {
		case d.PausedSince != nil:
			card.Waiting = fmt.Sprintf("%s paused %s. The run keeps its place and starts when the device is resumed.", d.PausedBy, run.Device)
			if d.PausedWhy != "" {
				card.Waiting += " " + d.PausedWhy
			}
		case IdleSlots(d) == 0:
			card.Waiting = busySlots(run.Device, d.Slots)
			return s.addWait(ctx, card, d.Slots)
		case IdleSlots(d) < card.Position:
			card.Waiting = "The runs ahead of it take the free slots first."
			return s.addWait(ctx, card, d.Slots)
		default:
			card.Waiting = "A slot is free; it starts in a moment."
		}
	}
	return nil
}

func busySlots(device string, slots int) string {
	if slots == 1 {
		return fmt.Sprintf("The only %s slot is busy.", device)
	}
	return fmt.Sprintf("All %d %s slots are busy.", slots, device)
}

// addWait adds an estimate of a run's wait.
func (s *Runs) addWait(ctx context.Context, card *views.RunCard, slots int) error {
	wait, err := s.expectedWait(ctx, card.Device, card.Position, slots)
	if wait > 0 {
		card.Waiting += fmt.Sprintf(" Estimated wait: %s.", format.Duration(max(wait.Round(time.Second), time.Second)))
	}
	return err
}

// ExpectedWait estimates the wait of a run at a place of a device's queue from the latest runs; 0 if unknown.
func (s *Runs) ExpectedWait(ctx context.Context, device string, place int) (time.Duration, error) {
	devices, err := s.DeviceList(ctx)
	for _, d := range devices {
		if d.Device == device && d.Slots > 0 && IdleSlots(d) < place && d.PausedSince == nil {
			return s.expectedWait(ctx, device, place, d.Slots)
		}
	}
	return 0, err
}

func (s *Runs) expectedWait(ctx context.Context, device string, place, slots int) (time.Duration, error) {
	pace, err := s.site.Store.Fleet.MedianRunTime(ctx, device)
	return pace * time.Duration(place) / time.Duration(slots), err
}
