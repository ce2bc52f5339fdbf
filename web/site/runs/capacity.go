package runs

import (
	"context"
	"slices"
	"strings"

	"warpboard/clients/go"
	"warpboard/models/fleet"
	"warpboard/models/work"
)

// Capacity lists the slots and the demand of each device that has a slot or work.
func (s *Runs) Capacity(ctx context.Context) ([]client.Capacity, error) {
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return s.CapacityAmong(ctx, workers)
}

// CapacityAmong lists the slots and the demand of each device, as Capacity does, for callers that have already read the
// workers.
func (s *Runs) CapacityAmong(ctx context.Context, workers []fleet.Worker) ([]client.Capacity, error) {
	waits, err := s.site.Store.Work.WaitingDevices(ctx)
	if err != nil {
		return nil, err
	}
	pauses, err := s.site.Store.Fleet.Pauses(ctx)
	if err != nil {
		return nil, err
	}
	devices := s.capacities(workers, waits)
	for i, d := range devices {
		devices[i].WantedSlots = d.Busy
		if _, paused := pauses[d.Device]; !paused {
			devices[i].WantedSlots += d.Waiting
		}
	}
	return devices, nil
}

// capacities counts slots and waiting work by device.
func (s *Runs) capacities(workers []fleet.Worker, waits []work.WaitingWork) []client.Capacity {
	byName := map[string]*client.Capacity{}
	at := func(name string) *client.Capacity {
		if byName[name] == nil {
			byName[name] = &client.Capacity{Device: name}
		}
		return byName[name]
	}
	for name, slots := range fleet.CountAllSlots(workers, s.site.Now()) {
		at(name).Slots, at(name).Busy = slots.AcceptingJobs, slots.Busy
	}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.IsLive(s.site.Now()) && !w.AcceptsJobsOn(slot) {
				at(slot.Device).OutOfService++
			}
		}
	}
	for _, wait := range waits {
		at(wait.Device).Waiting, at(wait.Device).OldestWaitSeconds = wait.WorkCount, max(0, s.site.Now().Sub(wait.OldestSince).Seconds())
	}
	list := make([]client.Capacity, 0, len(byName))
	for _, c := range byName {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b client.Capacity) int { return strings.Compare(a.Device, b.Device) })
	return list
}
