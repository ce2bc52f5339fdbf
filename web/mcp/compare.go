package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"warpboard/clients/go"
)

type compareRunsIn struct {
	A      int64  `json:"a" jsonschema:"id of a submission, not of a run"`
	B      int64  `json:"b" jsonschema:"id of another submission"`
	Device string `json:"device,omitempty" jsonschema:"device of the runs; needed if a submission has several"`
}

type comparedOut struct {
	A     comparedRunOut `json:"a"`
	B     comparedRunOut `json:"b"`
	Cases []comparedCase `json:"cases"`
	URL   string         `json:"url"`
}

type comparedRunOut struct {
	Run        int64    `json:"run"`
	Submission int64    `json:"submission"`
	User       string   `json:"user"`
	Device     string   `json:"device"`
	ScoreNS    *float64 `json:"score_ns"`
}

type comparedCase struct {
	Spec string     `json:"spec"`
	A    *caseTimes `json:"a,omitempty"`
	B    *caseTimes `json:"b,omitempty"`
}

type caseTimes struct {
	Median float64 `json:"median" jsonschema:"in nanoseconds"`
	Mean   float64 `json:"mean"`
}

func (t toolHandlers) compareRuns(
	ctx context.Context, _ *progressReporter, in compareRunsIn,
) (out comparedOut, err error) {
	var runs [2]client.Run
	for i, id := range []int64{in.A, in.B} {
		sub, err := t.site.Submission(ctx, id)
		if err != nil {
			return out, fmt.Errorf("submission %d: %w", id, err)
		}
		if runs[i], err = runOnDevice(sub, in.Device); err != nil {
			return out, err
		}
	}
	path := fmt.Sprintf("?a=%d&b=%d", runs[0].ID, runs[1].ID)
	text, err := t.site.Download(ctx, "/compare.json"+path)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	out.URL = t.site.BaseURL() + "/compare" + path
	return out, err
}

// runOnDevice returns the submission's run on a device. If device is empty, it returns the only run.
func runOnDevice(sub *client.Submission, device string) (found client.Run, err error) {
	var devices []string
	fit := 0
	for _, run := range sub.Runs {
		devices = append(devices, run.Device)
		if device == "" || run.Device == device {
			found = run
			fit++
		}
	}
	switch {
	case fit == 1:
		return found, nil
	case device == "":
		return found, fmt.Errorf("submission %d has runs on %s: choose one with device", sub.ID, strings.Join(devices, ", "))
	}
	return found, fmt.Errorf("submission %d has no run on %q: it has runs on %s", sub.ID, device, strings.Join(devices, ", "))
}
