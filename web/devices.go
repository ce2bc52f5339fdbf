package web

import (
	"cmp"
	"context"
	"slices"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/web/client"
)

// deviceList counts, for every device that has a slot or a run, its slots and its queue.
func (s *Server) deviceList(ctx context.Context) ([]client.Device, error) {
	workers, err := s.store.Workers(ctx)
	if err != nil {
		return nil, err
	}
	lengths, err := s.store.QueueLengths(ctx)
	if err != nil {
		return nil, err
	}
	pauses, err := s.store.Pauses(ctx)
	if err != nil {
		return nil, err
	}
	byName := map[string]*client.Device{}
	at := func(name string) *client.Device {
		if byName[name] == nil {
			byName[name] = &client.Device{Device: name}
		}
		return byName[name]
	}
	for name, slots := range models.SlotsOf(workers, s.now(), func(models.Worker, job.Slot) bool { return true }) {
		at(name).Slots, at(name).Busy = slots.Usable, slots.Busy
	}
	for _, length := range lengths {
		at(length.Device).Queued, at(length.Device).Running = length.Waiting, length.Running
	}
	list := make([]client.Device, 0, len(byName))
	for name, d := range byName {
		if pause, ok := pauses[name]; ok {
			d.PausedBy, d.PausedSince = pause.By, &pause.Since
		}
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b client.Device) int { return cmp.Compare(a.Device, b.Device) })
	return list, nil
}
