package device_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxb200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh100"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
)

func detect(t *testing.T, options device.Options) []device.Slot {
	t.Helper()
	slots, err := device.Detect(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	return slots
}

// noDriver returns a fake NVML without a driver: any call except Init panics, because the real library ends the
// process.
func noDriver(ret nvml.Return) nvml.Interface {
	return &mock.Interface{InitFunc: func() nvml.Return { return ret }}
}

func TestMachineWithoutDriverHasItsCPU(t *testing.T) {
	for _, ret := range []nvml.Return{nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED,
		nvml.ERROR_LIB_RM_VERSION_MISMATCH} {
		slots := detect(t, device.Options{NVML: noDriver(ret), CPUSlots: 2})
		if len(slots) != 2 {
			t.Fatalf("%d slots", len(slots))
		}
		for i, slot := range slots {
			if slot.Index != i || slot.Device != "CPU" || slot.IsGPU() || slot.Name == "" ||
				slot.MemoryBytes < 64<<20 ||
				!regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(slot.UUIDHash) || slot.Arch != "" ||
				len(slot.DeviceNodes) > 0 {
				t.Errorf("%+v", slot)
			}
		}
	}
}

// TestSystemsLibraryIsAskedWithoutHarm calls Detect with the real NVML: it must work without an NVIDIA library.
func TestSystemsLibraryIsAskedWithoutHarm(t *testing.T) {
	slots := detect(t, device.Options{CPUSlots: 1})
	if n := len(slots); n == 0 || slots[n-1].Device != "CPU" {
		t.Errorf("%+v", slots)
	}
}

func TestCPUSlotsAreAsManyAsWanted(t *testing.T) {
	for wanted, want := range map[int]int{-1: 0, 1: 1, 5: 5} {
		if got := len(detect(t, device.Options{NVML: noDriver(nvml.ERROR_LIBRARY_NOT_FOUND),
			CPUSlots: wanted})); got != want {
			t.Errorf("wanted %d, got %d", wanted, got)
		}
	}
	if got := len(detect(t, device.Options{NVML: noDriver(nvml.ERROR_LIBRARY_NOT_FOUND)})); got < 1 {
		t.Errorf("by default there are %d", got)
	}
}

func TestGPUsAreDescribed(t *testing.T) {
	slots := detect(t, device.Options{NVML: dgxh100.New(), CPUSlots: 1})
	if len(slots) != 9 {
		t.Fatalf("%d slots", len(slots))
	}
	want := device.Slot{
		Index: 3, Device: "H100-SXM", Name: "NVIDIA H100 80GB HBM3", MemoryBytes: 80 << 30, Arch: "90",
		Driver: "550.54.15", CUDA: "12.4", DeviceNodes: []string{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia3"},
	}
	ignore := []cmp.Option{
		cmpopts.IgnoreFields(device.Slot{}, "UUID", "UUIDHash", "DriverLibDir"), cmpopts.IgnoreUnexported(device.Slot{}),
	}
	if diff := cmp.Diff(want, slots[3], ignore...); diff != "" {
		t.Error(diff)
	}
	if !slots[3].IsGPU() || slots[3].UUIDHash == slots[4].UUIDHash ||
		strings.Contains(slots[3].UUID, slots[3].UUIDHash) {
		t.Errorf("%+v", slots[3])
	}
	if slots[8].Device != "CPU" || slots[8].Index != 8 {
		t.Errorf("%+v", slots[8])
	}
	if slots := detect(t, device.Options{NVML: dgxb200.New(), CPUSlots: -1}); slots[0].Device != "B200" ||
		slots[0].Arch != "100" {
		t.Errorf("%+v", slots[0])
	}
}

func TestGPUThatDoesNotAnswerIsLeftOut(t *testing.T) {
	lib := dgxh100.New()
	lib.Devices[1].(*server.Device).GetUUIDFunc = func() (string, nvml.Return) { return "", nvml.ERROR_GPU_IS_LOST }
	lib.Devices[2].(*server.Device).MigMode = nvml.DEVICE_MIG_ENABLE
	slots := detect(t, device.Options{NVML: lib, CPUSlots: -1})
	if len(slots) != 6 || slots[1].DeviceNodes[2] != "/dev/nvidia3" || slots[1].Index != 1 {
		t.Errorf("%+v", slots)
	}
	lib.DeviceGetCountFunc = func() (int, nvml.Return) { return 0, nvml.ERROR_UNKNOWN }
	if slots := detect(t, device.Options{NVML: lib, CPUSlots: -1}); len(slots) != 0 {
		t.Errorf("%+v", slots)
	}
}

func TestStartWatcherTellsTheConditionsOfARun(t *testing.T) {
	lib := dgxh100.New()
	lib.ExtensionsFunc = func() nvml.ExtendedInterface { return lib }
	gpu := lib.Devices[0].(*server.Device)
	clocks := []uint32{1980, 1200, 1755}
	sampled := make(chan struct{}, 100)
	calls := 0
	gpu.GetClockInfoFunc = func(kind nvml.ClockType) (uint32, nvml.Return) {
		if kind == nvml.CLOCK_MEM {
			return 2619, nvml.SUCCESS
		}
		calls++
		return clocks[min(calls, len(clocks))-1], nvml.SUCCESS
	}
	gpu.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 0, nvml.ERROR_NOT_SUPPORTED }
	gpu.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 650000, nvml.SUCCESS }
	gpu.GetCurrentClocksThrottleReasonsFunc = func() (uint64, nvml.Return) {
		sampled <- struct{}{}
		if calls == 2 {
			return nvml.ClocksThrottleReasonSwPowerCap, nvml.SUCCESS
		}
		return nvml.ClocksThrottleReasonGpuIdle, nvml.SUCCESS
	}
	gpu.GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) {
		// the parent's PID is a foreign process: it is no descendant of this process
		return []nvml.ProcessInfo{{Pid: uint32(os.Getpid())}, {Pid: uint32(os.Getppid())}}, nvml.SUCCESS
	}
	slot := detect(t, device.Options{NVML: lib, CPUSlots: -1})[0]

	watch := device.StartWatcher(context.Background(), slot)
	<-sampled
	<-sampled // the timer causes the second sample
	var machine job.Machine
	watch.StopAndStore(&machine)
	got := machine.GPUConditions

	if got["load_average"] == "" {
		t.Errorf("no load in %v", got)
	}
	delete(got, "load_average")
	want := map[string]string{
		"sm_clock":         "1200–1980 MHz, 1980 at the start, 1755 at the end",
		"memory_clock":     "2619 MHz",
		"power":            "650 W",
		"throttle_reasons": "power cap",
		"other_processes":  "in 1 of 1 samples",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if why := watch.StopAndExplain(); why != "another process on the device" {
		t.Errorf("a process that is measured beside another one is left out for %q", why)
	}
	if d := *machine.Disturbances; d.ClockSamples != 0 || d.ForeignProcessSamples != 1 || d.ProcessorCount != 0 || len(d.Reasons()) != 1 {
		t.Errorf("disturbances: %+v", d)
	}
}

func TestStartWatcherOfTheCPUTellsTheLoadAndEndsWithItsContext(t *testing.T) {
	slot := detect(t, device.Options{NVML: noDriver(nvml.ERROR_LIBRARY_NOT_FOUND), CPUSlots: 1})[0]
	ctx, cancel := context.WithTimeout(context.Background(), tier.Patience())
	cancel()
	var machine job.Machine
	device.StartWatcher(ctx, slot).StopAndStore(&machine)
	got := machine.GPUConditions
	if d := machine.Disturbances; d.ProcessorCount < 1 || d.LoadAverage < 0 {
		t.Errorf("disturbances: %+v", d)
	}
	if len(got) != 1 || !regexp.MustCompile(`^\d+\.\d+ at the start, \d+\.\d+ at the end$`).MatchString(
		got["load_average"]) {
		t.Errorf("%v", got)
	}
}

// TestProcessSurvivesAMissingLibrary calls Detect in a second process, because a missing library could end the process.
func TestProcessSurvivesAMissingLibrary(t *testing.T) {
	if os.Getenv("WARPBOARD_TEST_DETECT") != "" {
		detect(t, device.Options{})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcessSurvivesAMissingLibrary$")
	cmd.Env = append(os.Environ(), "WARPBOARD_TEST_DETECT=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
