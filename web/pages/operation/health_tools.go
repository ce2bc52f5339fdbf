package operation

import (
	"maps"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/internal/gpuname"
	"warpboard/models/fleet"
	"warpboard/views"
)

// sanitizers are the GPUs of connected workers on which mode sanitize is offered. A site may do without.
func (o *Operation) sanitizers(_ *fiber.Ctx, workers []fleet.Worker) (views.HealthRow, error) {
	row := views.HealthRow{Name: "compute-sanitizer", State: views.HealthNone, Says: "No GPU is connected.", Link: "/docs/sanitize", LinkText: "Mode sanitize"}
	has := map[string]bool{}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.Live(o.site.Now()) && slot.Device != gpuname.CPU {
				has[slot.Device] = has[slot.Device] || slot.Sanitizer
			}
		}
	}
	var with, without []string
	for _, device := range slices.Sorted(maps.Keys(has)) {
		if has[device] {
			with = append(with, device)
		} else {
			without = append(without, device)
		}
	}
	var said []string
	if len(with) > 0 {
		said = append(said, "Workers of "+strings.Join(with, ", ")+" have it.")
	}
	if len(without) > 0 {
		said = append(said, "No worker of "+strings.Join(without, ", ")+" has it: mode sanitize is not offered there.")
	}
	if len(said) > 0 {
		row.State, row.Says = views.HealthGood, strings.Join(said, " ")
	}
	return row, nil
}
