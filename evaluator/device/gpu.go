package device

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"warpboard/internal/gpuname"
)

// detectGPUs returns the slots of the GPUs that respond. After a failed Init it must not call any other function of
// NVML, including the one for error texts, because the process would exit.
func detectGPUs(lib nvml.Interface, log *slog.Logger) []Slot {
	switch ret := lib.Init(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		log.Info("no NVIDIA driver on this machine: CPU only")
		return nil
	default:
		log.Warn("the NVIDIA driver does not answer: CPU only; does nvidia-smi work?", "nvml_error", int(ret))
		return nil
	}
	count, ret := lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		log.Warn("the NVIDIA driver does not count its GPUs", "err", ret.Error())
		return nil
	}
	var slots []Slot
	for i := range count {
		slot, err := describeGPU(lib, i)
		if err != nil {
			log.Warn("a GPU is left out", "index", i, "err", err)
			continue
		}
		slots = append(slots, slot)
	}
	return slots
}

// describeGPU returns the slot of one GPU.
func describeGPU(lib nvml.Interface, index int) (Slot, error) {
	gpu, ret := lib.DeviceGetHandleByIndex(index)
	if ret != nvml.SUCCESS {
		return Slot{}, fmt.Errorf("open it: %w", ret)
	}
	if mode, _, ret := gpu.GetMigMode(); ret == nvml.SUCCESS && mode == nvml.DEVICE_MIG_ENABLE {
		return Slot{}, errors.New("it is split by MIG, and its parts cannot be timed; switch MIG off")
	}
	name, nameRet := gpu.GetName()
	uuid, uuidRet := gpu.GetUUID()
	memory, memoryRet := gpu.GetMemoryInfo()
	major, minor, archRet := gpu.GetCudaComputeCapability()
	node, nodeRet := gpu.GetMinorNumber()
	driver, driverRet := lib.SystemGetDriverVersion()
	cuda, cudaRet := lib.SystemGetCudaDriverVersion()
	for _, ret := range []nvml.Return{nameRet, uuidRet, memoryRet, archRet, nodeRet, driverRet, cudaRet} {
		if ret != nvml.SUCCESS {
			return Slot{}, fmt.Errorf("describe it: %w", ret)
		}
	}
	return Slot{
		Device: gpuname.Parse(name, memory.Total).Label(), Name: name, UUID: uuid, MemoryBytes: memory.Total,
		Arch: fmt.Sprintf("%d%d", major, minor), Driver: driver,
		CUDA:         fmt.Sprintf("%d.%d", cuda/1000, cuda%1000/10),
		DeviceNodes:  []string{"/dev/nvidiactl", "/dev/nvidia-uvm", fmt.Sprintf("/dev/nvidia%d", node)},
		DriverLibDir: findLibraryDir("libcuda.so.1", driverLibraryDirs()),
		GPULinkEnv:   gpuLinkEnv(os.Environ()),
		nvmlLibrary:  lib, nvmlDevice: gpu,
	}, nil
}

// driverLibraryDirs returns the common directories of driver libraries, on hosts and in containers.
func driverLibraryDirs() []string {
	dirs := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	return append(dirs, "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64",
		"/usr/local/nvidia/lib", "/usr/lib/wsl/lib", "/usr/lib")
}

// findLibraryDir returns the first directory that contains the library, or "".
func findLibraryDir(name string, dirs []string) string {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir
		}
	}
	return ""
}

// gpuLinkEnvPrefixes has prefixes of environment variables that select the links between GPUs. Variables that name
// interfaces, adapters, or files are not included, because a sandbox has none of these.
var gpuLinkEnvPrefixes = []string{
	"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_", "NCCL_P2P_", "NCCL_SHM_", "NCCL_CUMEM_", "NCCL_MNNVL_",
	"NVSHMEM_DISABLE_", "TORCH_SYMM_MEM_",
}

// gpuLinkEnv returns those of the worker's environment variables that select links between GPUs. Programs on several
// GPUs get them, because a machine may depend on them. They get no other variables of the worker.
func gpuLinkEnv(environ []string) map[string]string {
	var settings map[string]string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(gpuLinkEnvPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			if settings == nil {
				settings = map[string]string{}
			}
			settings[name] = value
		}
	}
	return settings
}
