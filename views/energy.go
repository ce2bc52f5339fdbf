package views

import (
	"fmt"
	"slices"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/views/format"
)

// hasEnergy reports whether a row of the board has an energy per call.
func (b BoardTable) hasEnergy() bool {
	return slices.ContainsFunc(b.rows(), func(e boards.Standing) bool { return e.EnergyJ != nil })
}

// reordered is the first page of the board in its other order.
func (b BoardTable) reordered() string {
	b.ByEnergy, b.At = !b.ByEnergy, ""
	return b.URL(1)
}

// columnsBehind is how many columns a baseline's row leaves empty: those from the interval on.
func (b BoardTable) columnsBehind() int {
	columns := 5
	for _, more := range []bool{b.hasRoofs(), b.hasEnergy(), b.added() != ""} {
		if more {
			columns++
		}
	}
	return columns
}

// order says what comes first.
func (b BoardTable) order() string {
	if b.ByEnergy {
		return "least energy"
	}
	return "best"
}

func energyText(joules *float64) string {
	if joules == nil {
		return "not measured"
	}
	return joulesText(*joules)
}

// joulesText shows an energy in the unit that fits it.
func joulesText(joules float64) string {
	switch {
	case joules >= 1:
		return format.Error(joules) + "\u00a0J"
	case joules >= 1e-3:
		return format.Error(joules*1e3) + "\u00a0mJ"
	}
	return format.Error(joules*1e6) + "\u00a0µJ"
}

// energyNote says what a call of a run draws, or why that was not measured; empty where no one looked for it.
func energyNote(m *job.Machine) string {
	switch {
	case m == nil || m.Energy == nil:
		return ""
	case m.Energy.Why != "":
		return "Not measured. " + format.Sentence(m.Energy.Why)
	}
	e := m.Energy
	return fmt.Sprintf("%s per call of “%s”: %.4g\u00a0W on average over %s back to back, in %s. This is the power of the whole GPU board, including idle power.",
		joulesText(e.Joules), e.Case, e.Watts, format.Plural(int(e.Calls), "call", "calls"), format.Duration(time.Duration(e.MeanNS*float64(e.Calls))))
}
