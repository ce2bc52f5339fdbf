package runs

import (
	"fmt"
	"time"

	"warpboard/views"
	"warpboard/views/format"
)

// addQueuePosition sets the queue position of a waiting run, and the reason why it waits, in its card.
func addQueuePosition(run RunView, card *views.RunCard) {
	d := run.QueuedDevice
	card.QueuePosition, card.LacksWorker = run.QueuePosition, d == nil || d.Slots == 0
	switch {
	case card.LacksWorker && d != nil && d.Problem != "":
		card.WaitingReason = d.Problem + " The run keeps its place and starts when that is fixed."
	case card.LacksWorker && run.MissingWorkerText != "":
		card.WaitingReason = "It waits for " + run.MissingWorkerText + "."
	case card.LacksWorker:
		card.WaitingReason = "The run keeps its place and starts when a worker connects."
	case run.MissingWorkerText != "":
		card.QueuePosition, card.WaitingReason = 0, "It waits for "+run.MissingWorkerText+". It keeps its place, and the runs behind it may start."
	case d.PausedSince != nil:
		card.WaitingReason = fmt.Sprintf("%s paused %s. The run keeps its place and starts when the device is resumed.", d.PausedBy, d.Device)
		if d.PauseReason != "" {
			card.WaitingReason += " " + d.PauseReason
		}
	case IdleSlots(*d) == 0 && d.Slots == 1:
		card.WaitingReason = fmt.Sprintf("The only %s slot is busy.", d.Device)
	case IdleSlots(*d) == 0:
		card.WaitingReason = fmt.Sprintf("All %d %s slots are busy.", d.Slots, d.Device)
	case run.waitsBehindOthers():
		card.WaitingReason = "The runs ahead of it take the free slots first."
	default:
		card.WaitingReason = "A slot is free; it starts in a moment."
	}
	if run.ExpectedWait > 0 {
		card.WaitingReason += fmt.Sprintf(" Estimated wait: %s.", format.Duration(max(run.ExpectedWait.Round(time.Second), time.Second)))
	}
}
