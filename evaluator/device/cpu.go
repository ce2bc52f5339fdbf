package device

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// detectCPU returns the CPU's slots; see Options.CPUSlots for their number.
func detectCPU(slots int) ([]Slot, error) {
	if slots < 0 {
		return nil, nil
	}
	if slots == 0 {
		slots = max(1, runtime.NumCPU()-1)
	}
	cpuinfo, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil, fmt.Errorf("find out which CPU this is: %w", err)
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return nil, fmt.Errorf("find out how much memory there is: %w", err)
	}
	cpu := Slot{
		Device: CPU, Name: cpuModelName(string(cpuinfo)), UUID: "CPU-" + machineID(),
		MemoryBytes: uint64(info.Totalram) * uint64(info.Unit),
	}
	all := make([]Slot, slots)
	for i := range all {
		all[i] = cpu
	}
	return all, nil
}

// cpuModelName returns the CPU's model from /proc/cpuinfo, or the architecture if that has no model.
func cpuModelName(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return "CPU (" + runtime.GOARCH + ")"
}

// machineID returns an identifier of this machine: /etc/machine-id, or else the host name.
func machineID() string {
	if id, err := os.ReadFile("/etc/machine-id"); err == nil && len(id) > 1 {
		return strings.TrimSpace(string(id))
	}
	host, _ := os.Hostname()
	return host
}
