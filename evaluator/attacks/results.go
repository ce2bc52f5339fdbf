package attacks

import (
	"embed"
	"encoding/json"
	"fmt"
	"time"
)

// results has a file for each device, with the last run of the corpus there. The test of this package writes that of
// the CPU where WARPBOARD_TEST_ATTACK_RESULTS names a file, scripts/attack-check --results those of GPUs.
//
//go:embed results
var results embed.FS

// Table is how each attack ended on a device the last time that it was tried there.
type Table struct {
	Device  string   `json:"device"` // as boards name it
	Results []Result `json:"results"`
}

// Result is how an attack ended.
type Result struct {
	Attack    string    `json:"attack"`
	Harness   string    `json:"harness"` // harness.Digest of the programs that it was last tried on
	Verdict   Verdict   `json:"verdict"`
	Held      bool      `json:"held"` // as expected, and its twin was ranked
	ClaimedNS float64   `json:"claimed_ns,omitempty"`
	ShownNS   float64   `json:"shown_ns,omitempty"`
	At        time.Time `json:"at"`
}

// Results reads the tables.
func Results() ([]Table, error) {
	entries, err := results.ReadDir("results")
	if err != nil {
		return nil, err
	}
	var tables []Table
	for _, entry := range entries {
		text, err := results.ReadFile("results/" + entry.Name())
		if err != nil {
			return nil, err
		}
		var table Table
		if err := json.Unmarshal(text, &table); err != nil {
			return nil, fmt.Errorf("results/%s: %w", entry.Name(), err)
		}
		tables = append(tables, table)
	}
	return tables, nil
}
