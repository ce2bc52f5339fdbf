package device

import (
	"slices"
	"strings"
)

// linkPrefixes begin the names of settings that say which links between GPUs may be used on this machine. Those
// that name its interfaces, adapters and files are not among them: none of these is in a sandbox.
var linkPrefixes = []string{
	"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_", "NCCL_P2P_", "NCCL_SHM_", "NCCL_CUMEM_", "NCCL_MNNVL_",
	"NVSHMEM_DISABLE_", "TORCH_SYMM_MEM_",
}

// linkSettings picks the operator's settings of the links between GPUs: programs on several get them too, although
// nothing else of the worker's environment reaches a sandbox. A machine may depend on them.
func linkSettings(environ []string) map[string]string {
	var settings map[string]string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc(linkPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			if settings == nil {
				settings = map[string]string{}
			}
			settings[name] = value
		}
	}
	return settings
}
