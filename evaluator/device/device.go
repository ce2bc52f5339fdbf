package device

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"warpboard/internal/gpuname"
)

// CPU is the device of boards without a GPU.
const CPU = gpuname.CPU

// Slot is a GPU, or a share of the CPU, that executes one run at a time.
type Slot struct {
	Index        int    // number among all slots of this worker
	Device       string // label of the device on boards, such as "H100-SXM" or "CPU"
	Name         string // product name: "NVIDIA H200", or the CPU's model name
	UUID         string // UUID of the GPU or CPU; the slots of one CPU share it
	UUIDHash     string // first 12 hex digits of the UUID's SHA-256; public, unlike UUID
	MemoryBytes  uint64
	Arch         string            // compute capability without its dot: "90"; empty for CPU
	Driver       string            // version of the NVIDIA driver; empty for CPU
	CUDA         string            // newest version that the driver supports: "13.0"; empty for CPU
	DeviceNodes  []string          // all device nodes that a program on this slot needs
	DriverLibDir string            // directory of libcuda.so.1; empty if not found, and for CPU
	GPULinkEnv   map[string]string // for GPUs: environment variables for links between GPUs

	nvmlLibrary nvml.Interface
	nvmlDevice  nvml.Device
}

// IsGPU reports whether the slot is a GPU, which is every device except the CPU. To add a third kind of device, change
// this method and its callers, which use it for choosing languages, probes, compilation beside a running job, and
// Nsight tools.
func (s Slot) IsGPU() bool { return s.Device != CPU }

// Options configures Detect.
type Options struct {
	// CPUSlots is the number of runs that the CPU may evaluate at the same time. 0 means one less than it has cores,
	// but at least one; a negative number means none.
	CPUSlots int
	// NVML is the NVML library; nil means the system's.
	NVML nvml.Interface
	Log  *slog.Logger
}

// Detect returns the slots of the GPUs, then those of the CPU. If the NVIDIA driver is missing or a GPU does not
// respond, the result has the devices that work; this is not an error. NVML stays initialized for StartWatcher.
func Detect(ctx context.Context, options Options) ([]Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if options.NVML == nil {
		options.NVML = nvml.New()
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	slots := detectGPUs(options.NVML, options.Log)
	cpus, err := detectCPU(options.CPUSlots)
	if err != nil {
		return nil, err
	}
	slots = append(slots, cpus...)
	for i := range slots {
		slots[i].Index = i
		slots[i].UUIDHash = hashUUID(slots[i].UUID)
	}
	return slots, nil
}

func hashUUID(uuid string) string {
	sum := sha256.Sum256([]byte(uuid))
	return hex.EncodeToString(sum[:6])
}
