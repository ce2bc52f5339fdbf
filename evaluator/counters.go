package evaluator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"warpboard/evaluator/kernel"
	"warpboard/evaluator/profile"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

const (
	countersReport = "profile.ncu-rep"
	maxCounters    = 256 << 20
	// maxWholeReport bounds the part of a result that the whole report may take, in bytes; a larger one
	// goes without its source view.
	maxWholeReport = 3 << 20
)

// Counters reads hardware counters with Nsight Compute, inside the sandbox.
type Counters struct {
	Tool   profile.Tool
	Runner toolchain.Runner
}

// Read runs the stage's program once under Nsight Compute and returns what the last kernel inside its
// range counted. The error is for the person who asked.
func (c *Counters) Read(ctx context.Context, program toolchain.Program, req toolchain.StageRequest, sections []string) (kernel.Metrics, error) {
	if c == nil {
		return kernel.Metrics{}, profile.ErrNoTool
	}
	spec := program.Spec(req)
	if len(spec.Device) == 0 {
		return kernel.Metrics{}, errors.New("this device has no counters that Nsight Compute reads")
	}
	if req.Timeout <= 0 {
		return kernel.Metrics{}, errors.New("no time was left for a pass under Nsight Compute: ask for a longer timeout")
	}
	report, err := c.collect(ctx, spec, sections)
	if err != nil {
		return kernel.Metrics{}, err
	}
	pages, err := c.pages(ctx, spec.Slot, report)
	if err != nil {
		return kernel.Metrics{}, err
	}
	return metrics(profile.Parse(pages))
}

// collect returns the report file.
func (c *Counters) collect(ctx context.Context, spec sandbox.Spec, sections []string) ([]byte, error) {
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // what the program says is known already
	if err != nil {
		return nil, err
	}
	defer nowhere.Close()
	spec.Argv = profile.Command(c.Tool, spec.Argv, profile.Options{Report: "/out/" + countersReport, Sections: sections})
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], c.mounts()...)
	spec.Pipe, spec.Collect = nowhere, map[string]int64{countersReport: maxCounters}
	spec.Limits.FileSize, spec.Limits.Out = maxCounters, 2*maxCounters
	out, err := c.Runner.Run(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	report := out.Files[countersReport]
	ended := profile.Ended{ExitCode: out.ExitCode, Limit: out.Limit, Output: out.Stdout + out.Stderr, Report: len(report) > 0}
	if why := profile.Explain(ended); why != "" {
		return nil, errors.New(why)
	}
	return report, nil
}

// pages has ncu print the report, without a device.
func (c *Counters) pages(ctx context.Context, slot int, report []byte) (profile.Pages, error) {
	pages := profile.Pages{Version: c.Tool.Version}
	for _, page := range profile.ImportCommands(c.Tool, "/in/"+countersReport) {
		var printed bytes.Buffer
		limits := sandbox.DefaultBuildLimits()
		limits.Output = maxCounters
		_, err := c.Runner.Run(ctx, sandbox.Spec{
			Slot: slot, Argv: page.Argv, Files: map[string][]byte{countersReport: report}, Mounts: c.mounts(),
			Limits: limits, OnStdout: func(b []byte) { printed.Write(b) },
		})
		if err != nil {
			return pages, fmt.Errorf("read the profile's %s page: %w", page.Page, err)
		}
		pages.Set(page.Page, printed.Bytes())
	}
	return pages, nil
}

func (c *Counters) mounts() []sandbox.Mount {
	var mounts []sandbox.Mount
	for _, dir := range c.Tool.Dirs {
		mounts = append(mounts, sandbox.Mount{Host: dir, Inside: dir})
	}
	return mounts
}

// metrics takes the numbers of the last kernel, and the whole report as far as it fits.
func metrics(report *profile.Report) (kernel.Metrics, error) {
	if len(report.Kernels) == 0 {
		return kernel.Metrics{}, errors.New("the profile holds no kernel")
	}
	m := kernel.Metrics{Device: profile.DeviceMetrics(&report.Kernels[len(report.Kernels)-1])}
	whole, err := json.Marshal(report)
	if err == nil && len(whole) > maxWholeReport {
		for i := range report.Kernels {
			report.Kernels[i].Source = nil
		}
		whole, err = json.Marshal(report)
	}
	if err == nil && len(whole) > maxWholeReport {
		return m, nil
	}
	m.Report = whole
	return m, err
}
