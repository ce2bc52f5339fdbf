package dispatch

import (
	"context"
	"maps"
	"slices"
	"time"

	"warpboard/models/work"
)

// A site of several processes has one that sends out the work of a device. When that one dies, another does after at most
// leaseFor and leaseAgain.
const (
	// The database's clock decides when a lease ends (package leases), so that the clocks of the processes need not
	// agree.
	leaseFor = 3 * time.Second
	// Looked at once per poll, so that renewals come every one to two seconds: one of them may fail.
	leaseAgain = time.Second
)

// lease is the devices that this process sends out the work of, as it last heard.
type lease struct {
	asked map[string]bool // devices that it wanted
	held  map[string]bool
	at    time.Time // when it began to ask
}

// hold renews the lease when it is time to, and whenever there is a device that was not asked for.
func (d *Dispatcher) hold(ctx context.Context, devices map[string]bool) error {
	begun := time.Now()
	isNew := func(device string) bool { return !d.lease.asked[device] }
	if begun.Sub(d.lease.at) < leaseAgain && !slices.ContainsFunc(slices.Collect(maps.Keys(devices)), isNew) {
		return nil
	}
	held, err := d.store.Leases.Hold(ctx, slices.Collect(maps.Keys(devices)), leaseFor)
	if err != nil {
		// Measured from when the last successful question began, by this process's monotonic clock: earlier than the
		// database counts from.
		if begun.Sub(d.lease.at) >= leaseFor {
			d.lease.held = nil // somebody else may have it by now
		}
		return err
	}
	mine := map[string]bool{}
	for _, device := range held {
		mine[device] = true
	}
	d.lease = lease{asked: devices, held: mine, at: begun}
	return nil
}

// holdAt does that for a pass. It is the first write of one: where the database takes none, or late, workers only seem
// silent.
func (d *Dispatcher) holdAt(ctx context.Context, devices map[string]bool, now time.Time) error {
	begun := time.Now()
	err := d.hold(ctx, devices)
	if took := time.Since(begun); err != nil || took > d.watch.writeFor {
		d.watch.resetClock(now.Add(took))
	}
	return err
}

// devicesOf are those that something is to be sent to, or was sent to.
func devicesOf(slots map[string]int, live []work.LiveAttempt) map[string]bool {
	devices := map[string]bool{}
	for device := range slots {
		devices[device] = true
	}
	for _, a := range live {
		devices[a.Device] = true
	}
	return devices
}

// ours are the losses of attempts on devices that this process holds.
// A process that holds a device only now has watched it all along, but for attempts that came while it could not read.
func (d *Dispatcher) ours(lost map[string]loss, live []work.LiveAttempt) map[string]loss {
	for _, a := range live {
		if !d.lease.held[a.Device] {
			delete(lost, a.ID)
		}
	}
	return lost
}

// letGo has another process go on at once after this one has ended in order.
func (d *Dispatcher) letGo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
	defer cancel()
	if err := d.store.Leases.LetGo(ctx); err != nil {
		d.log.Warn("another process waits until the lease of the devices has ended", "err", err)
	}
}
