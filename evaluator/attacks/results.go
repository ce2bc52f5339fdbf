package attacks

import (
	"embed"
	"encoding/json"
	"fmt"
	"time"
)

// resultFiles has one file per device with the latest results. The test of this package writes the file of the CPU if
// WARPBOARD_TEST_ATTACK_RESULTS names a file; scripts/attack-check --results writes those of GPUs.
//
//go:embed results
var resultFiles embed.FS

// DeviceResults has the latest result of each attack on one device.
type DeviceResults struct {
	Device  string   `json:"device"` // board device
	Results []Result `json:"results"`
}

// Result is the result of one attack.
type Result struct {
	Attack          string    `json:"attack"`
	HarnessDigest   string    `json:"harness"` // harness.Digest of the tested programs
	Verdict         Verdict   `json:"verdict"`
	EndedAsExpected bool      `json:"held"` // the attack's verdict was allowed, and its twin was ranked
	ClaimedTimeNS   float64   `json:"claimed_ns,omitempty"`
	ShownTimeNS     float64   `json:"shown_ns,omitempty"`
	TestedAt        time.Time `json:"at"`
}

// Results returns the latest results of all devices.
func Results() ([]DeviceResults, error) {
	entries, err := resultFiles.ReadDir("results")
	if err != nil {
		return nil, err
	}
	var tables []DeviceResults
	for _, entry := range entries {
		text, err := resultFiles.ReadFile("results/" + entry.Name())
		if err != nil {
			return nil, err
		}
		var table DeviceResults
		if err := json.Unmarshal(text, &table); err != nil {
			return nil, fmt.Errorf("results/%s: %w", entry.Name(), err)
		}
		tables = append(tables, table)
	}
	return tables, nil
}
