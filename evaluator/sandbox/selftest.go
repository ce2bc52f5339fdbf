package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/job"
)

// degradedPrefix is the prefix of the detail of a test that shows reduced protection, because the machine or the
// server's user allows no more. It is for people; such a worker still accepts jobs.
const degradedPrefix = "degraded: "

// SelfTest tries known ways out of the sandbox and reports for each whether it was blocked. A worker must refuse jobs
// if one of them did not pass. It takes about a second.
func (s *Sandbox) SelfTest(ctx context.Context) []job.SelfTestResult {
	if s.config.Disabled {
		return []job.SelfTestResult{{Name: "sandbox", Passed: true,
			Detail: "OFF: programs run with all rights of the server"}}
	}
	h, err := s.setUpOnce()
	if err != nil {
		return []job.SelfTestResult{{Name: "sandbox", Detail: err.Error()}}
	}
	lines := []job.SelfTestResult{s.checkUser(ctx, h)}
	lines = append(lines, s.runProbeChecks(ctx)...)
	return append(lines,
		s.checkMemory(ctx, h), s.checkForkBomb(ctx, h), s.checkDisk(ctx,
			h), s.checkDaemonKilled(ctx), s.checkWallTime(ctx))
}

// checkResult returns a result that has passed if err is nil.
func checkResult(name, detail string, err error) job.SelfTestResult {
	if err != nil {
		return job.SelfTestResult{Name: name, Detail: err.Error()}
	}
	return job.SelfTestResult{Name: name, Passed: true, Detail: detail}
}

// selfTestLimits returns small limits, so that a fork bomb reaches them at once.
func selfTestLimits() Limits {
	return Limits{
		WallTime: 4 * time.Second, Memory: 256 << 20, Processes: 32, FileSize: 32 << 20,
		OpenFiles: 256, TmpBytes: 8 << 20, ShmBytes: 8 << 20, OutBytes: 8 << 20, OutputBytes: 1 << 20,
	}
}

// checkUser checks, from outside, the user ID of a program in the sandbox.
func (s *Sandbox) checkUser(ctx context.Context, h *hostFeatures) job.SelfTestResult {
	const name = "own user"
	in, hold, err := os.Pipe()
	if err != nil {
		return checkResult(name, "", err)
	}
	defer in.Close()
	p, err := s.Start(ctx, Spec{Argv: []string{"/bin/cat"}, Stdin: in, Limits: selfTestLimits()})
	if err != nil {
		hold.Close()
		return checkResult(name, "", err)
	}
	uids := strings.Fields(statusFields(fmt.Sprintf("/proc/%d/status", p.PID()))["Uid"])
	hold.Close()
	if _, err := p.Wait(); err != nil {
		return checkResult(name, "", err)
	}
	if len(uids) == 0 || slices.Contains(uids, "0") {
		return checkResult(name, "", fmt.Errorf("a program has the uids %v on the host", uids))
	}
	if !h.hasSlotUIDs {
		return checkResult(name, degradedPrefix+"the server is not root, so programs have its own uid "+uids[0], nil)
	}
	return checkResult(name, "programs run as uid "+uids[0]+" on the host", nil)
}

// runProbeChecks runs the probe and checks its report.
func (s *Sandbox) runProbeChecks(ctx context.Context) []job.SelfTestResult {
	r, err := s.runProbe(ctx)
	if err != nil {
		return []job.SelfTestResult{checkResult("probe", "", err)}
	}
	lines := []job.SelfTestResult{
		checkResult("no rights", "CapEff is 0, NoNewPrivs is 1", r.checkRights()),
		checkResult("kernel settings", "core_pattern cannot be written", r.requireAttemptsRefused("core_pattern")),
		checkResult("system files", "/etc/shadow and /etc/passwd are absent",
			r.requireAttemptsRefused("shadow", "passwd")),
		checkResult("server's files", "a secret in the server's directory cannot be found",
			r.requireAttemptsRefused("secret")),
		checkResult("environment", "no variable of the server is set", r.checkEnvironment()),
		checkResult("read-only system", "/, /usr, /dev, and /in cannot be written", r.requireAttemptsRefused("root", "usr", "dev", "in")),
		checkResult("no network", fmt.Sprintf("%d addresses of the server cannot be reached, on loopback and on other networks", len(r.listeners)), r.requireAttemptsRefused(r.listeners...)),
		checkResult("no new namespaces", "unshare, setns, and clone are refused", r.requireCallsDenied("unshare", "setns", "clone(CLONE_NEWUSER)")),
		checkResult("no other sockets", "AF_VSOCK and AF_ALG are refused", r.requireCallsDenied("socket(AF_VSOCK)", "socket(AF_ALG)")),
		checkResult("no lasting memory", "shared memory, semaphores, and queues that outlive a process are refused",
			r.requireCallsDenied("shmget", "semget", "msgget", "mq_open")),
		checkResult("no tracing", "ptrace is refused, and the memory of bubblewrap cannot be reached",
			errors.Join(r.requireCallsDenied("ptrace", "process_vm_readv", "process_vm_writev"),
				r.requireAttemptsRefused("init"))),
	}
	all := slices.Sorted(maps.Keys(r.CallErrors))
	return append(lines, checkResult("system calls", fmt.Sprintf("%d are refused", len(all)),
		r.requireCallsDenied(all...)))
}

// runProbe runs this executable in the sandbox, where init handles probeCommand.
func (s *Sandbox) runProbe(ctx context.Context) (probeReport, error) {
	self, err := os.Executable()
	if err != nil {
		return probeReport{}, err
	}
	secret, forget, err := s.createSecretFile()
	if err != nil {
		return probeReport{}, err
	}
	defer forget()
	listeners, forgetListeners, err := listenOnHostAddresses()
	if err != nil {
		return probeReport{}, err
	}
	defer forgetListeners()
	limits := selfTestLimits()
	// Go reserves much memory and starts many threads. This test is about isolation, not limits.
	limits.Memory, limits.Processes = 0, 0 // no limits: the probe is this executable, which may be large and is trusted
	o, err := s.Run(ctx, Spec{
		Argv:   []string{"/probe", probeCommand, secret, strings.Join(listeners, " ")},
		Mounts: []Mount{{HostPath: self, InsidePath: "/probe"}},
		// Without these sockets the probe could not connect to any network.
		MountProc: true, Limits: limits, AllowInternetSockets: true,
	})
	if err != nil {
		return probeReport{}, err
	}
	var r probeReport
	if err := json.Unmarshal([]byte(o.Stdout), &r); err != nil {
		return probeReport{}, fmt.Errorf("the probe ended with code %d %s and said %q %q", o.ExitCode, o.Signal, o.Stdout, o.Stderr)
	}
	for _, address := range listeners {
		r.listeners = append(r.listeners, connectAttemptName(address))
	}
	return r, nil
}

// createSecretFile creates a file in a directory where the server may have its own files.
func (s *Sandbox) createSecretFile() (path string, forget func(), err error) {
	dir, err := os.MkdirTemp("", runMarkPrefix+"secret-")
	if err != nil {
		return "", nil, fmt.Errorf("plant a secret for the self-test: %w", err)
	}
	path = filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte(rand.Text()), 0o644); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return path, func() { os.RemoveAll(dir) }, nil
}

func (r probeReport) checkRights() error {
	if r.StatusFields["CapEff"] != "0000000000000000" || r.StatusFields["NoNewPrivs"] != "1" {
		return fmt.Errorf("CapEff is %s, NoNewPrivs is %s", r.StatusFields["CapEff"], r.StatusFields["NoNewPrivs"])
	}
	return nil
}

func (r probeReport) checkEnvironment() error {
	names := slices.DeleteFunc(slices.Clone(r.Env), func(name string) bool {
		_, ours := environment(nil)[name]
		return ours || name == "PWD"
	})
	if len(names) > 0 {
		return fmt.Errorf("a program sees the variables %v", names)
	}
	return nil
}

// requireAttemptsRefused returns an error unless every named attempt was made and failed.
func (r probeReport) requireAttemptsRefused(names ...string) error {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return r.AttemptErrors[name] != "" })
	if len(names) > 0 {
		return fmt.Errorf("not refused: %s", strings.Join(names, ", "))
	}
	return nil
}

// requireCallsDenied returns an error unless the seccomp filter denied every named call.
func (r probeReport) requireCallsDenied(names ...string) error {
	for _, name := range names {
		if r.CallErrors[name] != "EPERM" {
			return fmt.Errorf("%s was answered with %q, not with EPERM", name, r.CallErrors[name])
		}
	}
	return nil
}

// runShell runs a shell script in the sandbox with limits.
func (s *Sandbox) runShell(ctx context.Context, script string, limits Limits) (Outcome, error) {
	return s.Run(ctx, Spec{Argv: []string{"/bin/sh", "-c", script}, Limits: limits})
}

func (s *Sandbox) checkMemory(ctx context.Context, h *hostFeatures) job.SelfTestResult {
	const name = "memory bomb"
	limits := selfTestLimits()
	limits.Memory = 32 << 20
	o, err := s.runShell(ctx, "tail /dev/zero", limits) // tail buffers a line that never ends
	switch {
	case err != nil:
		return checkResult(name, "", err)
	case o.ExitCode == 0 || o.ExceededLimit == exceededWallTime:
		return checkResult(name, "", fmt.Errorf("a program went on past its memory limit (%d bytes)", o.MemoryPeak))
	// LimitsMemory is also false without a tree.
	case !h.cgroups.LimitsMemory():
		return checkResult(name, degradedPrefix+"no memory cgroup can be made here; each process is limited on its own", nil)
	case o.ExceededLimit != ExceededMemory:
		return checkResult(name, "", fmt.Errorf("a program ended with code %d, not by its memory limit: %s", o.ExitCode, o.Stderr))
	}
	return checkResult(name, fmt.Sprintf("stopped at %d MiB", o.MemoryPeak>>20), nil)
}

func (s *Sandbox) checkForkBomb(ctx context.Context, h *hostFeatures) job.SelfTestResult {
	const name = "fork bomb"
	o, err := s.runShell(ctx, "i=0; while [ $i -lt 64 ]; do sleep 60 & i=$((i+1)); done; exit 0", selfTestLimits())
	switch {
	case err != nil:
		return checkResult(name, "", err)
	case o.ExitCode == 0:
		return checkResult(name, "", fmt.Errorf("a program made 64 processes where %d are allowed", selfTestLimits().Processes))
	case !h.cgroups.LimitsProcesses():
		return checkResult(name, degradedPrefix+"no pids cgroup can be made here; RLIMIT_NPROC holds", nil)
	case o.ExceededLimit != ExceededProcesses:
		return checkResult(name, "", fmt.Errorf("a program ended with code %d, not by its process limit: %s", o.ExitCode, o.Stderr))
	}
	return checkResult(name, fmt.Sprintf("stopped at %d processes", selfTestLimits().Processes), nil)
}

func (s *Sandbox) checkDisk(ctx context.Context, h *hostFeatures) job.SelfTestResult {
	const name = "disk bomb"
	o, err := s.runShell(ctx, `for dir in /tmp /dev/shm /out; do
		head -c 64M /dev/zero >$dir/bomb && echo $dir
	done 2>/dev/null; echo end`, selfTestLimits())
	switch {
	case err != nil:
		return checkResult(name, "", err)
	case o.Stdout != "end\n":
		return checkResult(name, "", fmt.Errorf("a program wrote 64 MiB to: %s (code %d)", o.Stdout, o.ExitCode))
	case !h.hasPrivateMounts:
		return checkResult(name, degradedPrefix+"/out is on the server's disk; RLIMIT_FSIZE limits each file", nil)
	}
	return checkResult(name, "/tmp, /dev/shm, and /out have size limits", nil)
}

// checkDaemonKilled starts a background process, and checks that it is gone after the run.
func (s *Sandbox) checkDaemonKilled(ctx context.Context) job.SelfTestResult {
	const name = "no daemon"
	marker := fmt.Sprintf("86400.%d", time.Now().UnixNano())
	o, err := s.runShell(ctx, "(setsid sleep "+marker+" >/dev/null 2>&1 &); exit 0", selfTestLimits())
	if err == nil && o.ExitCode != 0 {
		err = fmt.Errorf("the shell ended with code %d: %s", o.ExitCode, o.Stderr)
	}
	if pid := findProcess(marker); err == nil && pid != "" {
		err = fmt.Errorf("process %s lives on after its run", pid)
	}
	return checkResult(name, "a daemon of a program is killed when the run ends", err)
}

// findProcess returns the PID of a host process with the marker in its command line, or "".
func findProcess(marker string) string {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(marker)) {
			return filepath.Base(filepath.Dir(path))
		}
	}
	return ""
}

func (s *Sandbox) checkWallTime(ctx context.Context) job.SelfTestResult {
	limits := selfTestLimits()
	limits.WallTime = 100 * time.Millisecond
	o, err := s.runShell(ctx, "trap '' TERM INT HUP; while :; do :; done", limits)
	if err == nil && o.ExceededLimit != exceededWallTime {
		err = fmt.Errorf("a program with a wall limit of %s ended with code %d, limit %q", limits.WallTime, o.ExitCode, o.ExceededLimit)
	}
	return checkResult("time limit", fmt.Sprintf("an endless program is stopped (after %d ms)", o.WallTime.Milliseconds()), err)
}
