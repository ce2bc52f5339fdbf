package device

import (
	"slices"
	"strings"
)

// linkPrefixes begin the names of settings that say how GPUs may talk to each other on this machine.
var linkPrefixes = []string{"NCCL_", "NVSHMEM_", "TORCH_NCCL_", "TORCH_SYMM_MEM_"}

// linkSettings picks the operator's settings of the links between GPUs: programs get them too, although
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
