package app

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/ncu/nsight"
	"warpboard/evaluator/profiling"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sanitizing"
	"warpboard/evaluator/selftest"
	"warpboard/evaluator/slots"
	"warpboard/internal/app/verify"
)

// minFreeDisk is the free disk space in bytes below which a slot accepts no jobs, because compiled objects, inputs, and
// profiles need space.
const minFreeDisk = 256 << 20

// runWork runs a worker. It needs no site and no database on this machine, only a credential for the queue of the
// site.
func runWork(ctx context.Context, env Environment, cfg *Config) error {
	// The environment is cleared before the first program starts: compilers and ncu soon report their versions.
	if err := clearSecretVariables(); err != nil {
		return err
	}
	cfg.Worker.setJoinCredential()
	release, err := lockDataDir(cfg.Data)
	if err != nil {
		return err
	}
	defer release()
	log := cfg.logger(env.Stderr)
	notice := cfg.shutdownNotice(log)
	if notice != nil && notice.waitForEnd(ctx) {
		return nil
	}
	defer logStopSignal(ctx, cfg, log)()
	site := queue.WorkerConfig{
		URL:    cmp.Or(cfg.SiteAddress, cfg.NATS.URL),
		CAFile: cfg.NATS.TLSCA,
		Secret: cfg.Worker.Secret,
		Log:    log,
	}
	return ignoreCancelled(runWorker(ctx, cfg, site, log, func(c *evaluator.Config) {
		if c.ExitConditions = cfg.Worker.ExitConditions; notice != nil {
			c.WaitForShutdownNotice = notice.waitForNotice
		}
	}))
}

// runWorker evaluates jobs on the devices of this machine until ctx ends. leaving configures when the worker exits by
// itself.
func runWorker(
	ctx context.Context, cfg *Config, dial queue.WorkerConfig, log *slog.Logger, leaving func(*evaluator.Config),
) error {
	dial.Name = cfg.Worker.Name
	// It connects before detecting devices, to report a wrong secret at once; it waits for a site that does not run.
	conn, err := queue.ConnectWorker(ctx, dial)
	if err != nil {
		return err
	}
	defer conn.Close()
	config, box, err := verify.DetectMachine(ctx, cfg.machineSettings(log))
	if err != nil {
		return err
	}
	config.Conn, config.WarmPythons, config.Precompile, config.StopTimeout = conn, cfg.Worker.WarmPythons, cfg.Worker.PrecompileTasks, cfg.ShutdownGrace
	leaving(&config)
	config.MeasureConfig.MaxProcesses = cfg.Worker.MeasuringProcesses
	config.SlotBenchmarks = evaluator.SlotBenchmarkConfig{Interval: cfg.Worker.SlotBenchmarkEvery,
		FirstDelay: time.Minute}
	if config.Toolchain.NVCC != nil {
		config.ProbeDevice = (&slots.CUDAProbe{Runner: box, NVCC: config.Toolchain.NVCC}).Check
	}
	config.SelfTest = cfg.selfTestConfig()
	enableNsight(ctx, &config, box, cfg.Worker)
	addSanitizer(&config, box)
	log.Info("worker is up; it takes jobs once its sandbox has passed its test", "name", config.Name, "slots", len(config.Slots), "sandbox", box.Name())
	return evaluator.NewWorker(config).Run(ctx)
}

// machineSettings returns the settings of this machine.
func (c *Config) machineSettings(log *slog.Logger) verify.MachineSettings {
	return verify.MachineSettings{
		Name: c.Worker.Name, Version: programVersion(), DataDir: c.Data, ObjectDir: c.objectDir(), CPUSlots: cpuSlots(c.Worker.CPUSlots),
		IsSandboxDisabled: c.Worker.SandboxMode == "off", FirstUID: c.Worker.FirstUID, BuildNice: c.Worker.BuildNice, Libraries: c.Worker.includeLibraries(), Log: log,
	}
}

// selfTestConfig returns the configuration of the self-tests of slots: a failed test is repeated soon, because the
// machine may have been repaired.
func (c *Config) selfTestConfig() evaluator.SelfTestConfig {
	// The pauses limit the time until a repaired machine is tested again; DelayIfPassed gives the first jobs after a
	// start precedence.
	return evaluator.SelfTestConfig{
		FirstRetryPause: 10 * time.Second, MaxRetryPause: 10 * time.Minute, DelayIfPassed: time.Minute,
		PassRecord: selftest.PassRecord{Dir: filepath.Join(c.objectDir(), "selftest")}, FreeSpaceDir: c.Data, MinFreeBytes: minFreeDisk,
	}
}

// objectDir returns the directory of compiled objects.
func (c *Config) objectDir() string {
	return cmp.Or(c.Worker.ObjectCache, filepath.Join(c.Data, "objects"))
}

// enableNsight enables hardware counters for a worker with a GPU, and profiling unless that is switched off.
func enableNsight(ctx context.Context, config *evaluator.Config, box *sandbox.Sandbox, settings WorkerSettings) {
	if !slices.ContainsFunc(config.Slots, device.Slot.IsGPU) {
		return
	}
	places := nsight.DefaultSearchPaths()
	if settings.NCUPath != "" {
		places = nsight.SearchPaths{ProgramGlobs: []string{settings.NCUPath}, ExtraDirs: places.ExtraDirs}
	}
	tool, err := nsight.FindTool(ctx, places)
	if err != nil {
		config.Log.Warn("nothing is profiled", "why", err)
		return
	}
	config.Nsight = &profiling.Nsight{Tool: tool, Runner: box}
	if settings.ProfileRuns {
		config.Profiler = config.Nsight
	}
}

// addSanitizer enables compute-sanitizer for a worker with a GPU.
func addSanitizer(config *evaluator.Config, box *sandbox.Sandbox) {
	switch tool := config.Toolchain.ComputeSanitizer; {
	case !slices.ContainsFunc(config.Slots, device.Slot.IsGPU):
	case tool == nil:
		config.Log.Warn("nothing is sanitized", "why", "compute-sanitizer was not found on PATH, in CUDA_HOME or in /usr/local/cuda; it comes with the CUDA toolkit, beside nvcc")
	default:
		config.Sanitizer = &sanitizing.Sanitizer{Executable: tool, Runner: box}
	}
}

// cpuSlots converts the setting for package device, where 0 means as many slots as the machine has space for.
func cpuSlots(n int) int {
	if n == 0 {
		return -1
	}
	return n
}
