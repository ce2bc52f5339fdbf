package device

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// readThrottleReasons returns the current throttle reasons of a GPU, or 0. It calls the NVML function by its older
// name, which all drivers export, and only if this library has it, because calling a missing function ends the process.
func readThrottleReasons(slot Slot) uint64 {
	if slot.nvmlLibrary.Extensions().LookupSymbol("nvmlDeviceGetCurrentClocksThrottleReasons") != nil {
		return 0
	}
	reasons, ret := slot.nvmlDevice.GetCurrentClocksThrottleReasons()
	if ret != nvml.SUCCESS {
		return 0
	}
	return reasons
}

// throttleReasonText returns the names of throttle reasons. Idleness is not one.
func throttleReasonText(bits uint64) string {
	names := []struct {
		bit  uint64
		name string
	}{
		{nvml.ClocksThrottleReasonApplicationsClocksSetting, "clocks set by the operator"},
		{nvml.ClocksThrottleReasonSwPowerCap, "power cap"},
		{nvml.ClocksThrottleReasonHwSlowdown, "hardware slowdown"},
		{nvml.ClocksThrottleReasonSyncBoost, "sync boost"},
		{nvml.ClocksThrottleReasonSwThermalSlowdown, "software thermal slowdown"},
		{nvml.ClocksThrottleReasonHwThermalSlowdown, "hardware thermal slowdown"},
		{nvml.ClocksThrottleReasonHwPowerBrakeSlowdown, "power brake"},
		{nvml.ClocksThrottleReasonDisplayClockSetting, "display clocks"},
	}
	var set []string
	rest := bits &^ nvml.ClocksThrottleReasonGpuIdle
	for _, n := range names {
		if bits&n.bit != 0 {
			set = append(set, n.name)
		}
		rest &^= n.bit
	}
	if rest != 0 {
		set = append(set, fmt.Sprintf("unknown reasons %#x", rest))
	}
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(set, ", ")
}
