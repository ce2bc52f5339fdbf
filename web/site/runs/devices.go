package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/models/fleet"
	"warpboard/models/switches"
	"warpboard/models/work"
	"warpboard/views"
)

// DeviceList lists the slots and queue lengths of each device that has a slot or a run, as far as they are public.
func (s *Runs) DeviceList(ctx context.Context) ([]client.Device, error) {
	return s.DeviceListFor(ctx, accounts.User{})
}

// DeviceListFor lists the slots and queue lengths of each device, as DeviceList does, with additional data for admins.
func (s *Runs) DeviceListFor(ctx context.Context, viewer accounts.User) ([]client.Device, error) {
	list, _, err := s.devicesAndSwitches(ctx, viewer)
	return list, err
}

// devicesAndSwitches returns the result of DeviceListFor, and the parts of the site that are switched off.
func (s *Runs) devicesAndSwitches(
	ctx context.Context, viewer accounts.User,
) ([]client.Device, []switches.OffPart, error) {
	workers, err := s.WorkersFor(ctx, viewer)
	if err != nil {
		return nil, nil, err
	}
	loads, err := s.site.Store.Work.ReadSiteLoad(ctx)
	return s.devices(workers, loads.QueueLengths, loads.PausedDevices), loads.OffParts, err
}

// WorkersFor lists the workers. Admins also see the reasons of failures.
func (s *Runs) WorkersFor(ctx context.Context, viewer accounts.User) ([]fleet.Worker, error) {
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil || viewer.IsAdmin() {
		return workers, err
	}
	for i := range workers {
		workers[i] = workers[i].WithoutPrivateReasons()
	}
	return workers, nil
}

// Devices lists the slots and queue lengths of each device, as DeviceList does, for callers that have already read the
// workers and the queue.
func (s *Runs) Devices(
	ctx context.Context, workers []fleet.Worker, lengths []work.QueueLength,
) ([]client.Device, error) {
	pauses, err := s.site.Store.Fleet.Pauses(ctx)
	return s.devices(workers, lengths, pauses), err
}

func (s *Runs) devices(
	workers []fleet.Worker, lengths []work.QueueLength, pauses map[string]fleet.Pause,
) []client.Device {
	byName := map[string]*client.Device{}
	at := func(name string) *client.Device {
		if byName[name] == nil {
			byName[name] = &client.Device{Device: name}
		}
		return byName[name]
	}
	for name, slots := range fleet.CountAllSlots(workers, s.site.Now()) {
		at(name).Slots, at(name).Busy = slots.AcceptingJobs, slots.Busy
	}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if problem := w.SlotProblem(slot); problem != "" && w.IsLive(s.site.Now()) {
				d := at(slot.Device)
				d.OutOfService++
				d.Problem = cmp.Or(d.Problem, "Worker "+w.Name+": "+problem)
			}
			if slot.CanSanitize && w.IsLive(s.site.Now()) {
				at(slot.Device).Sanitizer = true
			}
		}
	}
	for _, length := range lengths {
		d := at(length.Device)
		d.Queued, d.Running, d.AheadOfNewCount, d.BehindNewCount = length.Waiting, length.Running, length.AheadOfNewRun, length.BehindNewRun
	}
	list := make([]client.Device, 0, len(byName))
	for name, d := range byName {
		if pause, ok := pauses[name]; ok {
			d.PausedBy, d.PausedSince, d.PauseReason = pause.PausedBy, &pause.Since, pause.Reason
		}
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b client.Device) int { return cmp.Compare(a.Device, b.Device) })
	return list
}

// DeviceChoices returns the devices of a form. If nothing was selected before, it selects the first device with a
// worker, or the only device. It does not select a device with an unknown wait unless it is the only one.
func (s *Runs) DeviceChoices(
	ctx context.Context, names []string, before []views.DeviceChoice,
) ([]views.DeviceChoice, error) {
	known, err := s.DeviceList(ctx)
	if err != nil {
		return nil, err
	}
	return DeviceChoicesAmong(known, names, before), nil
}

// DeviceChoicesAmong returns the devices of a form, as DeviceChoices does, for callers that have already read the
// devices.
func DeviceChoicesAmong(known []client.Device, names []string, before []views.DeviceChoice) []views.DeviceChoice {
	choices := make([]views.DeviceChoice, len(names))
	for i, name := range names {
		choices[i] = newDeviceChoice(name, known)
		choices[i].Chosen = slices.ContainsFunc(before, func(b views.DeviceChoice) bool { return b.Device == name && b.Chosen })
	}
	first := slices.IndexFunc(choices, func(d views.DeviceChoice) bool { return !d.Offline })
	if len(choices) == 1 {
		first = 0
	}
	if len(before) == 0 && first >= 0 {
		choices[first].Chosen = true
	}
	return choices
}

// IdleSlots returns the number of idle slots of a device. It subtracts the larger of two numbers: the busy slots that
// workers report at intervals, and the dispatched runs.
func IdleSlots(d client.Device) int { return max(d.Slots-max(d.Busy, d.Running), 0) }

// newDeviceChoice describes a device for a form, and whether a run could start there now. It is offline only if no
// worker has it.
func newDeviceChoice(name string, known []client.Device) views.DeviceChoice {
	i := slices.IndexFunc(known, func(d client.Device) bool { return d.Device == name && d.Slots+d.OutOfService > 0 })
	if i < 0 {
		return views.DeviceChoice{
			Device:  name,
			Note:    "No worker at the moment: runs wait until one connects",
			Short:   "offline",
			Offline: true,
		}
	}
	d := known[i]
	if d.Slots == 0 { // a new worker has no slots until its self-tests have passed
		return views.DeviceChoice{
			Device:    name,
			Note:      "Its slots are being tested or are out of service: a run waits until one passes its test",
			Short:     "not ready",
			Sanitizer: d.Sanitizer,
		}
	}
	free := max(IdleSlots(d)-d.AheadOfNewCount, 0) // the first free slots are for the runs that already wait
	choice := views.DeviceChoice{
		Device:    name,
		Note:      fmt.Sprintf("%d of %d free, %s", free, d.Slots, WaitingText(d)),
		Short:     fmt.Sprintf("%d free", free),
		Free:      free > 0,
		Sanitizer: d.Sanitizer,
	}
	switch {
	case d.PausedSince != nil:
		choice.Note, choice.Short, choice.Free = "Paused, "+WaitingText(d), "paused", false
	case free == 0 && d.AheadOfNewCount == 0:
		choice.Short = "busy, no one waits"
	case free == 0:
		choice.Short = fmt.Sprintf("busy, %d ahead", d.AheadOfNewCount)
	}
	return choice
}

// WaitingText describes the queue of a device, for the sender of a new run: the numbers of waiting runs ahead of and
// behind it.
func WaitingText(d client.Device) string {
	if d.AheadOfNewCount+d.BehindNewCount == 0 {
		return "none waiting"
	}
	return fmt.Sprintf("%d waiting ahead of a new run, %d behind it", d.AheadOfNewCount, d.BehindNewCount)
}

// ChosenDevices returns the selected devices of a form.
func ChosenDevices(names []string) []views.DeviceChoice {
	// not empty, even without names: an empty list would mean that the form has no selection yet
	choices := []views.DeviceChoice{{}}
	for _, name := range names {
		choices = append(choices, views.DeviceChoice{Device: name, Chosen: true})
	}
	return choices
}
