package device

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// readThrottleReasons returns the current throttle reasons, or 0. It calls the function by its older name, which all
// drivers export, and only if this library has it: calling a missing function would end the process.
func readThrottleReasons(slot Slot) uint64 {
	if slot.lib.Extensions().LookupSymbol("nvmlDeviceGetCurrentClocksThrottleReasons") != nil {
		return 0
	}
	reasons, ret := slot.gpu.GetCurrentClocksThrottleReasons()
	if ret != nvml.SUCCESS {
		return 0
	}
	return reasons
}

// throttleReasonText names the bits. Being idle is not a reason.
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
