package models

import (
	"context"

	"warpboard/evaluator/job"
	"warpboard/models/devices"
	"warpboard/silicon"
)

// NoteSlots remembers which silicon a worker has, and returns the labels of what nobody had before. A slot whose worker
// calls it something else (a program from before there were labels) is not noted.
func (s *Store) NoteSlots(ctx context.Context, h job.Heartbeat) (fresh []string, err error) {
	may, err := s.MayTake(ctx, h.Worker)
	if err != nil {
		return nil, err
	}
	var seen []devices.Device
	for _, slot := range h.Slots {
		if may(slot.Device) && silicon.Of(slot.Machine.Name, slot.Memory).Label() == slot.Device {
			seen = append(seen, devices.Device{Label: slot.Device, Name: slot.Machine.Name, Memory: int64(slot.Memory)})
		}
	}
	return s.NoteDevices(ctx, seen)
}
