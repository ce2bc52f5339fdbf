package job

import (
	"cmp"
	"fmt"
	"strings"

	"warpboard/internal/requirement"
)

// Limits for messages of workers. The site checks them when it reads a message, because a stolen credential could send
// anything that fits.
const (
	MaxSlots          = 1024    // slots of one worker; no machine has as many processors
	MaxHeartbeatBytes = 2 << 20 // bytes of a Heartbeat message
	MaxEventBytes     = 4 << 20 // bytes of a message with events

	maxCheckResults     = 256
	maxAttempts         = 4 * MaxSlots
	maxCompiledVersions = 1 << 16
	maxStages           = 16
	maxArtifacts        = 1024     // per case of a profile two, and one per group of cases
	maxCases            = 1 << 16  // also for tasks with their own harness
	maxNameBytes        = 256      // bytes of a name
	maxHeartbeatText    = 64 << 10 // bytes of a text in a heartbeat
	maxPackages         = 1000
	// MaxTextBytes limits each text of a stage in bytes, because pages load them. Workers cut longer texts.
	MaxTextBytes = 1 << 20
)

// Check returns an error that names the part of a heartbeat that exceeds the limits.
func (h Heartbeat) Check() error {
	switch {
	case len(h.Slots) > MaxSlots:
		return fmt.Errorf("it has %d slots, at most %d are allowed", len(h.Slots), MaxSlots)
	case len(h.Attempts) > maxAttempts:
		return fmt.Errorf("it names %d attempts, at most %d are allowed", len(h.Attempts), maxAttempts)
	case len(h.SelfTestResults) > maxCheckResults:
		return fmt.Errorf("its self-test has %d lines, at most %d are allowed", len(h.SelfTestResults), maxCheckResults)
	}
	if err := checkPackages(h.Packages); err != nil {
		return err
	}
	for _, s := range h.Slots {
		if err := s.check(); err != nil {
			return fmt.Errorf("slot %d: %w", s.Index, err)
		}
	}
	for _, line := range h.SelfTestResults {
		if err := checkTextSizes(maxHeartbeatText, line.Name, line.Detail); err != nil {
			return fmt.Errorf("the self-test: %w", err)
		}
	}
	return cmp.Or(checkTextSizes(maxNameBytes, h.Attempts...), checkTextSizes(maxHeartbeatText, h.WorkerVersion, h.NoJobsReason))
}

func checkPackages(packages requirement.Packages) error {
	if len(packages) > maxPackages {
		return fmt.Errorf("it has %d packages, at most %d are allowed", len(packages), maxPackages)
	}
	for name, version := range packages {
		if err := cmp.Or(checkTextSizes(requirement.MaxNameBytes, name), checkTextSizes(requirement.MaxVersionBytes, version)); err != nil {
			return fmt.Errorf("a package: %w", err)
		}
		if strings.ContainsFunc(name+version, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("the package %q has a name or a version %q that is not printable ASCII", name, version)
		}
	}
	return nil
}

func (s Slot) check() error {
	if err := checkTextSizes(maxNameBytes, s.Device, s.Arch, s.AttemptID); err != nil {
		return err
	}
	if err := checkTextSizes(maxHeartbeatText, s.DisabledReason, s.PublicReason); err != nil {
		return err
	}
	return s.Machine.check()
}

func (m Machine) check() error {
	if len(m.GPUConditions) > maxNameBytes {
		return fmt.Errorf("it has %d conditions, at most %d are allowed", len(m.GPUConditions), maxNameBytes)
	}
	for key, value := range m.GPUConditions {
		if err := checkTextSizes(maxHeartbeatText, key, value); err != nil {
			return err
		}
	}
	return checkTextSizes(4*maxNameBytes, m.Worker, m.Device, m.DeviceName, m.UUIDHash, m.Driver, m.CUDA, m.CompilerVersion, m.Python, m.Torch, m.Triton, m.HarnessDigest, m.KernelRelease, m.SandboxName)
}

// Check returns an error if the worker uses another version of jobs, or if a part of the request exceeds the limits.
func (a WorkRequest) Check() error {
	if a.MessageVersion != MessageVersion {
		return fmt.Errorf("the site sends jobs of version %d and this worker reads version %d: update the older one", MessageVersion, a.MessageVersion)
	}
	if len(a.Attempts) > maxAttempts || len(a.CompiledVersions) > maxCompiledVersions {
		return fmt.Errorf("it names %d attempts and %d versions, at most %d and %d are allowed", len(a.Attempts), len(a.CompiledVersions), maxAttempts, maxCompiledVersions)
	}
	return checkTextSizes(maxNameBytes, append([]string{a.Caller}, a.Attempts...)...)
}

// Check returns an error that names the part of an event that exceeds the limits.
func (e Event) Check() error {
	if err := checkTextSizes(maxNameBytes, e.AttemptID, string(e.Type), string(e.Stage), e.Stream, e.EvaluationID); err != nil {
		return err
	}
	if e.EndedStage != nil {
		if err := e.EndedStage.check(); err != nil {
			return err
		}
	}
	return checkTextSizes(MaxTextBytes, e.Text)
}

// Check returns an error that names the part of a result that exceeds the limits.
func (r Result) Check() error {
	switch {
	case len(r.Stages) > maxStages:
		return fmt.Errorf("it has %d stages, at most %d are allowed", len(r.Stages), maxStages)
	case len(r.Artifacts) > maxArtifacts:
		return fmt.Errorf("it has %d artifacts, at most %d are allowed", len(r.Artifacts), maxArtifacts)
	}
	for _, a := range r.Artifacts {
		if err := checkTextSizes(maxNameBytes, a.Name, a.Type); err != nil {
			return fmt.Errorf("an artifact: %w", err)
		}
	}
	for _, s := range r.Stages {
		if err := s.check(); err != nil {
			return fmt.Errorf("stage %.20s: %w", s.Stage, err)
		}
	}
	if r.Failure != nil {
		if err := checkTextSizes(MaxTextBytes, r.Failure.Reason); err != nil {
			return err
		}
	}
	if err := checkTextSizes(maxNameBytes, r.AttemptID, r.EvaluationID, r.HarnessName, string(r.Outcome)); err != nil {
		return err
	}
	return r.Machine.check()
}

func (s StageResult) check() error {
	if len(s.Cases) > maxCases {
		return fmt.Errorf("it has %d cases, at most %d are allowed", len(s.Cases), maxCases)
	}
	if len(s.Findings) > maxAllFindings {
		return fmt.Errorf("it has %d findings, at most %d are allowed", len(s.Findings), maxAllFindings)
	}
	for _, f := range s.Findings {
		if err := f.check(); err != nil {
			return err
		}
	}
	for _, c := range s.Cases {
		if err := c.checkKernels(); err != nil {
			return err
		}
	}
	if s.Failure != nil {
		if err := checkTextSizes(MaxTextBytes, s.Failure.Reason); err != nil {
			return err
		}
	}
	return checkTextSizes(MaxTextBytes, string(s.Stage), string(s.Status), s.Command, s.Stdout, s.Stderr)
}

// checkTextSizes returns an error for the first text longer than limit bytes.
func checkTextSizes(limit int, all ...string) error {
	for _, text := range all {
		if len(text) > limit {
			return fmt.Errorf("the text %.40q… has %d bytes, at most %d are allowed", text, len(text), limit)
		}
	}
	return nil
}
