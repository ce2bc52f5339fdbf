package profiling

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/nsight"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

const (
	reportFile = "profile.ncu-rep"
	ptxFile    = "kernels.ptx"
	// maxPageBytes limits a printed page of a report, in bytes, because reports can be forged (see ncu.MaxReport).
	maxPageBytes = 64 << 20
	// reportWriteTime is the time for ncu to write its report after the last call of the program.
	reportWriteTime = 30 * time.Second
)

// collectPTXScript is a shell script that runs a command and then collects Triton's PTX, up to a number of bytes.
const collectPTXScript = `most=$1; shift; "$@"; code=$?
find "$TRITON_CACHE_DIR" -type f -name '*.ptx' -exec cat {} + 2>/dev/null | head -c "$most" >/out/` + ptxFile + `; exit $code`

// Nsight runs Nsight Compute inside the sandbox.
type Nsight struct {
	Tool   nsight.Tool
	Runner toolchain.ProcessRunner
}

var errNoCounters = errors.New("this device has no counters that Nsight Compute reads")

var errUnreadableReport = errors.New("ncu printed nothing of its own report")

// profileProcess runs a process of the program under ncu, modified by adapt, and returns ncu's report file, which is
// empty if there is none. why is a sentence about a failure, after which there may still be a report. The error is an
// infrastructure error.
func (n *Nsight) profileProcess(
	ctx context.Context, program toolchain.Program, req toolchain.StageRequest, adapt func(*sandbox.Spec) error,
	o nsight.Options,
) (report []byte, out judge.StageEnding, why string, err error) {
	// The report that a program without a judge writes is dropped: the result of this stage is the report of ncu.
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, out, "", err
	}
	defer nowhere.Close()
	o.ReportPath, req.LingerTime = "/out/"+reportFile, reportWriteTime
	out, err = program.RunWrapped(ctx, req, func(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
		if err := adapt(&spec); err != nil {
			return sandbox.Outcome{}, err
		}
		spec.Argv = slices.Concat([]string{"/bin/sh", "-c", collectPTXScript, "profile", strconv.Itoa(ncu.MaxPTX)}, nsight.ProfileCommand(n.Tool, spec.Argv, o))
		if spec.Env["TRITON_CACHE_DIR"] == "" {
			spec.Env["TRITON_CACHE_DIR"] = "/tmp/triton"
		}
		spec.AllowInternetSockets = true // ncu communicates with its child processes over TCP
		spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], n.mounts()...)
		spec.ResultPipe, spec.CollectFiles = nowhere, map[string]int64{reportFile: ncu.MaxReport, ptxFile: ncu.MaxPTX}
		spec.Limits.FileSize, spec.Limits.OutBytes = ncu.MaxReport, 2*ncu.MaxReport
		return n.Runner.Run(ctx, spec)
	})
	if errors.Is(err, errNoCounters) {
		return nil, out, "", err
	}
	if err != nil {
		return nil, out, "", fmt.Errorf("profile: %w", err)
	}
	report = out.Files[reportFile]
	why = nsight.ExplainFailure(nsight.CommandResult{
		ExitCode: out.ExitCode, ExceededLimit: out.ExceededLimit, Output: out.Stdout + out.Stderr, HasReport: len(report) > 0, Filter: o.Filter})
	return report, out, why, nil
}

// readReport makes ncu print the pages of a report, without a device, and parses them.
func (n *Nsight) readReport(ctx context.Context, slot int, report []byte) (*ncu.Report, error) {
	limits := sandbox.DefaultRunLimits()
	limits.FileSize, limits.WallTime, limits.OutBytes = maxPageBytes, time.Minute, int64(len(ncu.CSVPageNames()))*maxPageBytes
	collected := map[string]int64{}
	for _, page := range ncu.CSVPageNames() {
		collected[page] = maxPageBytes
	}
	out, err := n.Runner.Run(ctx, sandbox.Spec{
		SandboxSlot: slot, Argv: nsight.PrintPagesCommand(n.Tool, "/in/"+reportFile, "/out"), Files: map[string][]byte{reportFile: report},
		Mounts: n.mounts(), MountProc: true, Limits: limits, CollectFiles: collected,
	})
	if err != nil {
		return nil, fmt.Errorf("read the profile: %w", err)
	}
	pages := ncu.CSVPages{Version: n.Tool.Version}
	for name, printed := range out.Files {
		pages.SetPage(name, printed)
	}
	if len(pages.RawPage) == 0 && ctx.Err() == nil {
		return nil, fmt.Errorf("%w (exit code %d, limit %q): %s", errUnreadableReport, out.ExitCode, out.ExceededLimit, out.Stdout+out.Stderr)
	}
	return ncu.ParsePages(pages), ctx.Err()
}

func (n *Nsight) mounts() []sandbox.Mount {
	var mounts []sandbox.Mount
	for _, dir := range n.Tool.RequiredDirs {
		mounts = append(mounts, sandbox.Mount{HostPath: dir, InsidePath: dir})
	}
	return mounts
}
